// What a card, a zone, a number or a word at the table means: shown on hover, on focus and on tap. The text is the title of
// the element, which browsers show on hover without scripts too.
"use strict";

(() => {
  const EXPLAINED = ".card, .tag, .known, .term, .figure, .chip, .zone, .tally > li";
  const root = document.getElementById("moment");
  const box = document.createElement("p");
  let shown = null;
  box.id = box.className = "explanation";
  box.setAttribute("role", "tooltip");
  box.hidden = true;
  document.body.append(box);

  const textOf = (one) => {
    if (one.title) { one.dataset.about = one.title; one.removeAttribute("title"); } // or the browser would show it as well
    return one.dataset.about;
  };
  const hide = () => {
    shown?.removeAttribute("aria-describedby");
    shown = null;
    box.hidden = true;
  };
  const show = (one) => {
    const text = textOf(one);
    hide();
    if (!text) return;
    shown = one;
    box.textContent = text;
    box.hidden = false;
    one.setAttribute("aria-describedby", box.id);
    const place = one.getBoundingClientRect(), { offsetWidth: width, offsetHeight: height } = box;
    const below = place.bottom + 6, middle = place.left + place.width / 2 - width / 2;
    box.style.left = `${Math.max(6, Math.min(middle, document.documentElement.clientWidth - width - 6))}px`;
    box.style.top = `${below + height < innerHeight - 60 ? below : Math.max(6, place.top - height - 6)}px`;
  };
  // At a seat the question tells what a card of the hand does; here it would lie over "Play it".
  const explained = (event) => { const one = event.target.closest(EXPLAINED); return one?.closest(".hand") ? null : one; };

  root.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse") return;
    const one = explained(event);
    if (one) show(one); else hide();
  });
  root.addEventListener("pointerleave", hide);
  root.addEventListener("focusin", (event) => { if (explained(event) === event.target) show(event.target); });
  root.addEventListener("focusout", hide);
  document.addEventListener("click", (event) => {
    const one = root.contains(event.target) && !event.target.closest("a, button, summary") && explained(event);
    if (one) show(one); else hide();
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  const moved = () => { if (shown && shown === document.activeElement) show(shown); else hide(); }; // Tab scrolls, too
  addEventListener("scroll", moved, { capture: true, passive: true });

  // In a replay the keyboard reaches every card; at a table of a person it stays with the options.
  const arrived = () => {
    hide();
    if (!document.getElementById("player")) return;
    for (const one of root.querySelectorAll(":is(.card, .tag, .term)[title]")) if (!one.closest("a")) one.tabIndex = 0;
  };
  new MutationObserver(arrived).observe(root, { childList: true });
  arrived();
})();
