// A match file: dropped, chosen, or that of the match that was played in this tab.
"use strict";

(() => {
  const drop = document.getElementById("drop"), choice = document.getElementById("file"), words = drop.dataset;
  const status = document.getElementById("file-status");
  const tell = (text, isTrouble = false) => {
    status.textContent = text;
    status.classList.toggle("bad", isTrouble);
  };
  const show = (data) => {
    const { title, checks, replay } = JSON.parse(data);
    tell("");
    document.getElementById("game").textContent = title;
    document.getElementById("checks").innerHTML = checks;
    const place = document.getElementById("replay");
    const scripts = [...place.children].map((one) => Object.assign(document.createElement("script"), { src: one.dataset.script, async: false }));
    place.innerHTML = replay;
    place.hidden = !replay;
    if (replay) document.head.append(...scripts); // which want the replay to be there
    choice.closest("p").hidden = true; // another file is opened by a page of its own
    document.getElementById("again").hidden = false;
    document.documentElement.dataset.opened = "yes"; // for tests
  };
  const query = new URLSearchParams(location.search);
  let send = null;
  const open = (content) => {
    send ??= globalThis.cutpurseEngine({ opened: show, failed: (text) => tell(text, true) }, tell);
    send({ kind: "open", content, at: Number(query.get("at")) }, [content]);
  };
  const take = async (file) => {
    if (!file) return;
    if (file.size > Number(words.mostMb) * 1e6) {
      tell(words.large.replace("{size}", Math.ceil(file.size / 1e6)).replace("{most}", words.mostMb), true);
      return;
    }
    try {
      open(await file.arrayBuffer());
    } catch {
      tell(words.unreadable, true);
    }
  };
  choice.addEventListener("change", () => take(choice.files[0]));
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => { event.preventDefault(); if (!choice.closest("p").hidden) take(event.dataTransfer.files[0]); });
  if (query.has("last")) {
    const last = sessionStorage.getItem("cutpurse-match");
    if (last) open(new TextEncoder().encode(last).buffer);
    else tell(words.none, true);
  }
})();
