// The forms of a host: settings of the chosen game, and bots of the chosen ladder's game. Without this all are listed.
"use strict";

(() => {
  for (const form of document.querySelectorAll("form.fields")) {
    const { game, ladder } = form.elements;
    const settings = form.querySelectorAll(".of-game");
    const showSettings = () => {
      for (const part of settings) part.hidden = part.dataset.game !== game.value;
    };
    if (settings.length) {
      game.addEventListener("change", showSettings);
      showSettings();
    }

    const picks = form.querySelector(".picks");
    if (!picks || !ladder) continue;
    const search = picks.querySelector("[type=search]"), none = picks.querySelector(".none");
    const bots = [...picks.querySelectorAll("label[data-games]")];
    search.closest("[hidden]").hidden = false;
    const showBots = () => {
      const words = search.value.trim().toLowerCase();
      for (const bot of bots) {
        const box = bot.querySelector("input");
        const plays = bot.dataset.games === "" || bot.dataset.games.split(" ").includes(ladder.selectedOptions[0]?.dataset.game);
        box.disabled = !plays; // what is not listed is not sent
        bot.hidden = !plays || !(box.checked || bot.textContent.toLowerCase().includes(words));
      }
      none.hidden = bots.some((bot) => !bot.hidden);
    };
    search.addEventListener("input", showBots);
    search.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
    ladder.addEventListener("change", showBots);
    showBots();
  }
})();
