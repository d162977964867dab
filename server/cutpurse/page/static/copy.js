// A button at each command that can be copied; without it the command can be selected.
"use strict";

(() => {
  if (!navigator.clipboard) return;
  const said = document.body.dataset;
  for (const pre of document.querySelectorAll("pre")) {
    const code = pre.querySelector("code");
    if (!code) continue;
    const text = code.textContent.replace(/^\$ /gm, "");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = said.copyWords;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = said.copied;
      } catch {
        button.textContent = said.notAllowed;
      }
      setTimeout(() => { button.textContent = said.copyWords; }, 2000);
    });
    pre.append(button);
  }
})();
