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
    if (drop.dataset.dropped === "?") place.querySelector(".viewers")?.remove();
    place.hidden = !replay;
    if (replay) document.head.append(...scripts); // which want the replay to be there
    choice.closest("p").hidden = true; // another file is opened by a page of its own
    document.getElementById("again").hidden = false;
    document.documentElement.dataset.opened = "yes"; // for tests
  };
  const query = new URLSearchParams(location.search), seat = query.get("seat");
  const DROPPED = "cutpurse-file"; // the file, for the page of another seat
  let send = null;
  const open = (content) => {
    send ??= globalThis.cutpurseEngine({ opened: show, failed: (text) => tell(text, true) }, tell);
    send({ kind: "open", content, at: Number(query.get("at")), seat: seat ? Number(seat) : undefined }, [content]);
  };
  const take = async (file) => {
    if (!file) return;
    if (file.size > Number(words.mostMb) * 1e6) {
      tell(words.large.replace("{size}", Math.ceil(file.size / 1e6)).replace("{most}", words.mostMb), true);
      return;
    }
    try {
      const content = await file.arrayBuffer();
      let address = "?dropped";
      try {
        sessionStorage.setItem(DROPPED, new TextDecoder().decode(content));
      } catch {
        address = "?"; // it is too large: only all cards can be seen
      }
      history.replaceState(null, "", address);
      drop.dataset.dropped = address;
      open(content);
    } catch {
      tell(words.unreadable, true);
    }
  };
  choice.addEventListener("change", () => take(choice.files[0]));
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => { event.preventDefault(); if (!choice.closest("p").hidden) take(event.dataTransfer.files[0]); });
  if (query.has("last") || query.has("dropped")) {
    const last = sessionStorage.getItem(query.has("last") ? "cutpurse-match" : DROPPED);
    if (last) open(new TextEncoder().encode(last).buffer);
    else tell(words.none, true);
  } else if (/^[\w-]+$/.test(query.get("match") ?? "")) {
    fetch(`matches/${query.get("match")}.jsonl`).then((answer) => answer.ok ? answer.arrayBuffer() : Promise.reject(answer)).then(open).catch(() => tell(words.away, true));
  }
})();
