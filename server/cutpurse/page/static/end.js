// The end of a person's game: once the match is stored, all cards are open and the story says how it was decided.
"use strict";

(() => {
  const AGAIN_MS = 1000, MAX_TRIES = 30; // a match is stored some moments after its end
  const root = document.getElementById("moment");
  const places = new WeakSet(); // that are filled, or soon will be
  async function show(place, tries = 0) {
    const answer = await (globalThis.cutpurseTable?.end ?? fetch)(place.dataset.end).catch(() => null);
    if (answer?.status !== 200) {
      if (tries < MAX_TRIES) setTimeout(() => show(place, tries + 1), AGAIN_MS);
      return;
    }
    const part = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!place.isConnected) return;
    root.querySelector(".board").replaceWith(document.importNode(part.getElementById("open-cards"), true));
    for (const gone of root.querySelectorAll(".seat > .hand, .seat > .caption, #moment > .hand, #moment > .caption")) gone.remove();
    place.replaceChildren(...document.importNode(part.getElementById("why"), true).childNodes);
    root.classList.add("told");
    document.documentElement.dataset.end = "told"; // for tests
  }
  const look = () => {
    const place = root.querySelector(".ends [data-end]");
    if (!place || places.has(place)) return;
    places.add(place);
    root.classList.remove("told");
    show(place);
  };
  document.addEventListener("shown", look);
  look();
})();
