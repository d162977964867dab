// A button at each command that can be copied; without it the command can be selected.
"use strict";

(() => {
  if (!navigator.clipboard) return;
  for (const pre of document.querySelectorAll("pre")) {
    const code = pre.querySelector("code");
    if (!code) continue;
    const text = code.textContent.replace(/^\$ /gm, "");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not allowed";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    pre.append(button);
  }
})();
