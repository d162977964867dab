// What goes on while a page is open: the part that changes is loaded again every second until it is over.
"use strict";

(() => {
  const lookAgain = async () => {
    const part = document.getElementById("changing");
    if (!part || !("pending" in part.dataset)) return;
    try {
      const answer = await fetch(location.pathname, { headers: { Accept: "text/html" } });
      const now = answer.ok && new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("changing");
      if (now && now.innerHTML !== part.innerHTML) part.replaceWith(document.importNode(now, true));
      else if (now && !("pending" in now.dataset)) delete part.dataset.pending;
    } catch { /* the page does not answer now; look again */ }
    setTimeout(lookAgain, 1000);
  };
  setTimeout(lookAgain, 1000);
})();
