// The comments of a guided match: the latest one stands above the table, and "next comment" leads to the next.
"use strict";

(() => {
  const guide = document.getElementById("guide"), player = document.getElementById("player");
  const places = JSON.parse(guide.dataset.places), texts = JSON.parse(guide.dataset.texts);
  const ats = JSON.parse(player.dataset.ats);
  const text = document.getElementById("guide-text"), number = document.getElementById("guide-number");

  const lead = (way, to) => {
    const isThere = places[to] !== undefined;
    way.toggleAttribute("aria-disabled", !isThere);
    if (isThere) {
      way.dataset.index = places[to]; // table.js goes there
      way.href = `${location.pathname}?at=${ats[places[to]]}`;
    } else {
      way.removeAttribute("data-index");
      way.removeAttribute("href");
      way.setAttribute("aria-disabled", "true");
    }
  };
  const show = () => {
    const index = ats.indexOf(Number(player.dataset.at));
    const now = Math.max(0, places.findLastIndex((place) => place <= index));
    if (text.textContent !== texts[now]) text.textContent = texts[now];
    guide.classList.toggle("past", places[now] !== index);
    number.textContent = number.dataset.words.replace("{number}", now + 1).replace("{all}", places.length);
    lead(document.getElementById("guide-back"), now - 1);
    lead(document.getElementById("guide-next"), now + 1);
    document.getElementById("guide-play")?.classList.toggle("ghost", now + 1 < places.length);
  };
  document.addEventListener("moment", show);
  show();
})();
