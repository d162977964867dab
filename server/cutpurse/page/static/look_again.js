// What goes on while a page is open: the part that changes is loaded again every second until it is over.
"use strict";

(() => {
  // What was scrolled aside stays there.
  const put = (part, now) => {
    const before = [...part.querySelectorAll(".scrolls")].map((one) => [one.getAttribute("aria-label"), one.scrollLeft]);
    const focused = part.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
    part.replaceWith(now);
    for (const one of now.querySelectorAll(".scrolls")) {
      const label = one.getAttribute("aria-label");
      one.scrollLeft = before.find(([name]) => name === label)?.[1] ?? 0;
      if (focused !== null && label === focused) one.focus({ preventScroll: true });
    }
  };
  const lookAgain = async () => {
    const part = document.getElementById("changing");
    if (!part || !("pending" in part.dataset)) return;
    try {
      const answer = await fetch(location.pathname, { headers: { Accept: "text/html" } });
      const now = answer.ok && new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("changing");
      if (now && now.innerHTML !== part.innerHTML) put(part, document.importNode(now, true));
      else if (now && !("pending" in now.dataset)) delete part.dataset.pending;
    } catch { /* the page does not answer now; look again */ }
    setTimeout(lookAgain, 1000);
  };
  setTimeout(lookAgain, 1000);
})();
