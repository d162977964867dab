// A person's seat: answers without loading the page again, keys, the clock, and which cards an option is about. The
// table itself is kept up to date by table.js. Without scripts the options are plain buttons of a form.
"use strict";

(() => {
  const root = document.getElementById("moment"), problem = document.getElementById("seat-problem");
  const title = document.title, said = document.getElementById("live").dataset;
  let ticking = 0, chosen = null; // the option that has the focus, and its decision

  const form = () => root.querySelector(".seat-options");
  const buttons = () => [...root.querySelectorAll(".seat-options button")];

  // -- the clock: it says little while there is time
  const minutes = (ms) => `${Math.floor(ms / 60000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, "0")}`;
  const tick = (asked, until) => {
    const clock = asked.querySelector(".seat-clock"), left = asked.querySelector(".seat-left");
    if (!asked.isConnected || !left) { clearInterval(ticking); return; }
    const base = until - performance.now(), bank = Math.max(0, Number(asked.dataset.bankMs) + Math.min(0, base));
    left.textContent = (base > 0 ? said.clock.replace("{base}", minutes(base)) : said.reserve).replace("{bank}", minutes(bank));
    clock.classList.toggle("soon", base + bank < 30000);
  };

  // -- which cards and zones an option is about
  const cardsOf = (button) => {
    const faces = button.dataset.faces.split(" ").filter(Boolean), zone = button.dataset.zoneTarget;
    const aimed = zone === "0" ? [] : [...root.querySelectorAll(`[data-zone="${CSS.escape(zone)}"]`)];
    const own = faces.flatMap((face) => [...root.querySelectorAll(`.chair.viewer [data-face="${CSS.escape(face)}"]`)]);
    return { aimed, own };
  };
  const aim = (button) => {
    for (const one of root.querySelectorAll(".aimed")) one.classList.remove("aimed");
    if (!button) return;
    const { aimed, own } = cardsOf(button);
    for (const one of [...aimed, ...own]) one.classList.add("aimed");
  };

  // -- a new moment
  const arrived = () => {
    const asked = form();
    clearInterval(ticking);
    document.title = asked ? `${said.yourTurn} · ${title}` : title;
    if (asked) {
      problem.textContent = "";
      const until = performance.now() + Number(asked.dataset.baseMs);
      tick(asked, until);
      ticking = setInterval(tick, 1000, asked, until);
      for (const button of buttons()) for (const card of cardsOf(button).own) card.classList.add("legal");
      const number = asked.elements.decision.value;
      const again = chosen?.number === number ? buttons().find((button) => button.value === chosen.option) : null;
      (again ?? buttons()[0]).focus({ preventScroll: matchMedia("(max-width: 48rem)").matches });
      document.documentElement.dataset.decision = number; // for tests that wait for it
    } else root.querySelector("[data-focus]")?.focus();
    if (navigator.clipboard) for (const button of root.querySelectorAll("[data-copy]")) button.hidden = false;
  };
  new MutationObserver(arrived).observe(root, { childList: true });

  // -- an answer
  const send = async (asked, option) => {
    if (asked.dataset.sent) return; // a second click
    asked.dataset.sent = "1";
    for (const button of buttons()) button.setAttribute("aria-disabled", "true");
    const body = new URLSearchParams({ decision: asked.elements.decision.value, option });
    try {
      const answer = await fetch(asked.action, { method: "POST", body, headers: { Accept: "application/json" } });
      if (answer.ok) return;
      problem.textContent = (await answer.json()).text;
    } catch {
      problem.textContent = said.failed;
    }
    delete asked.dataset.sent;
    for (const button of buttons()) button.removeAttribute("aria-disabled");
  };
  document.addEventListener("submit", (event) => {
    if (!event.target.matches(".seat-options") || !event.submitter) return;
    event.preventDefault();
    send(event.target, event.submitter.value);
  });

  // -- the link for friends
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const link = document.getElementById(button.dataset.copy);
    link.select();
    try {
      await navigator.clipboard.writeText(link.value);
      button.textContent = said.copied;
    } catch {
      button.textContent = said.notAllowed;
    }
  });

  // -- keys and cards
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !form()) return;
    const all = buttons(), at = all.indexOf(document.activeElement);
    let to;
    if (/^[1-9]$/.test(event.key)) to = Number(event.key) - 1;
    else if (event.key === "ArrowDown") to = Math.min(at + 1, all.length - 1);
    else if (event.key === "ArrowUp") to = Math.max(at - 1, 0);
    if (all[to]) { event.preventDefault(); all[to].focus(); }
  });
  root.addEventListener("focusin", (event) => {
    const button = event.target.closest(".seat-options button");
    aim(button);
    if (button) chosen = { number: form().elements.decision.value, option: button.value };
  });
  root.addEventListener("mouseover", (event) => { const button = event.target.closest(".seat-options button"); if (button) aim(button); });
  root.addEventListener("click", (event) => {
    const card = event.target.closest(".legal");
    buttons().find((button) => card && button.dataset.faces.split(" ").includes(card.dataset.face))?.focus();
  });
  arrived();
})();
