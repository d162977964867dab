// What every page does once it is there; each works without it too. Nothing but the browser is needed: what moves comes
// as whole fragments of HTML that the server has rendered (see news.py), and a library would do no more than put them in.
"use strict";

(() => {
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)");

  const said = document.body.dataset; // the words that scripts put in, in the language of the page

  // -- moments as how long ago they were; the exact one stays as the title
  const STEPS = [[60, "second"], [3600, "minute"], [86400, "hour"], [7 * 86400, "day"]];
  const words = new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: "auto" });

  function tellMoments() {
    for (const time of document.querySelectorAll("time[datetime]:not([data-exact])")) {
      const then = Date.parse(time.dateTime);
      if (Number.isNaN(then)) continue;
      const ago = Math.round((Date.now() - then) / 1000);
      const at = STEPS.findIndex(([most]) => Math.abs(ago) < most);
      if (!time.title) time.title = time.textContent;
      if (at < 0) { time.textContent = time.title; continue; }
      const unit = at === 0 ? 1 : STEPS[at - 1][0];
      time.textContent = words.format(-Math.round(ago / unit), STEPS[at][1]);
    }
  }

  // -- a fragment in place of the one before: what has moved slides there, what is new lights up
  function keyed(box) {
    return new Map([...box.querySelectorAll("[data-key]")].map((one) => [one.dataset.key, one]));
  }

  function put(box, html) {
    const before = new Map([...keyed(box)].map(([key, one]) => [key, [one.getBoundingClientRect().top, one.textContent]]));
    const focused = document.activeElement && box.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    const scrolled = [...box.querySelectorAll(".scrolls")].map((one) => one.scrollLeft);
    box.innerHTML = html;
    box.querySelectorAll(".scrolls").forEach((one, at) => { one.scrollLeft = scrolled[at] || 0; });
    if (focused) [...box.querySelectorAll("a")].find((one) => one.getAttribute("href") === focused)?.focus({ preventScroll: true });
    tellMoments();
    for (const [key, one] of keyed(box)) {
      const was = before.get(key);
      if (!was) { if (before.size) one.classList.add("changed"); continue; }
      const moved = was[0] - one.getBoundingClientRect().top;
      if (moved && !isCalm.matches) {
        one.animate([{ transform: `translateY(${moved}px)` }, { transform: "none" }], { duration: 700, easing: "cubic-bezier(.2,.7,.2,1)" });
      }
    }
  }

  function places(box) {
    return new Map([...box.querySelectorAll("[data-place]")].map((one) => [one.dataset.name, Number(one.dataset.place)]));
  }

  function tellPlaces(before, now) {
    const risen = [...now].filter(([name, place]) => before.has(name) && place < before.get(name));
    if (!risen.length) return;
    const status = document.getElementById("status");
    if (status) status.textContent = risen.slice(0, 3).map(([name, place]) => said.isNow.replace("{name}", () => name).replace("{number}", place)).join(" ");
  }

  const AGAIN_MS = 5000;

  function listen(box) {
    let shown = box.innerHTML.trim();
    const note = document.createElement("p");
    note.className = "away-note";
    note.hidden = true;
    box.before(note);
    const tell = (text) => { note.textContent = text; note.hidden = false; };
    let source = null;
    const open = () => {
      source?.close();
      source = new EventSource(box.dataset.events);
      source.addEventListener("changed", (event) => {
        note.hidden = true;
        if (event.data.trim() === shown) return;
        shown = event.data.trim();
        const before = places(box);
        put(box, event.data);
        tellPlaces(before, places(box));
      });
      source.addEventListener("away", () => tell(said.away));
      source.addEventListener("gone", () => tell(said.gone));
      source.addEventListener("error", () => {
        tell(said.away);
        if (source.readyState === EventSource.CLOSED) setTimeout(open, AGAIN_MS); // it was refused: browsers leave it at that
      });
      source.addEventListener("open", () => { note.hidden = true; });
    };
    open();
    addEventListener("pagehide", () => source.close());
    addEventListener("pageshow", (event) => { if (event.persisted) open(); }); // by "back", as it was left
  }

  // -- a page that will tell something else: looked at again, and loaded when it does
  function lookAgain(box) {
    const shown = box.dataset.awaits;
    setInterval(async () => {
      if (document.hidden) return;
      try {
        const answer = await fetch(location.href, { cache: "no-cache" });
        if (!answer.ok && answer.status !== 404) return;
        const told = new DOMParser().parseFromString(await answer.text(), "text/html");
        if (told.querySelector("[data-awaits]")?.dataset.awaits !== shown) location.reload();
      } catch { /* the page is away; it may come again */ }
    }, Number(box.dataset.everyMs));
  }

  // -- commands to be copied
  function offerCopies() {
    if (!navigator.clipboard) return;
    for (const button of document.querySelectorAll("[data-copy]")) {
      button.hidden = false;
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(button.dataset.copy);
        const label = button.firstChild;
        label.textContent = said.copied;
        setTimeout(() => { label.textContent = said.copyWords; }, 1500);
      });
    }
  }

  tellMoments();
  offerCopies();
  document.querySelectorAll("#moving[data-events]").forEach(listen); // a live table listens for itself
  document.querySelectorAll("[data-awaits]").forEach(lookAgain);
  setInterval(tellMoments, 15000);
  document.addEventListener("cutpurse:changed", tellMoments); // somebody put something new on the page
})();
