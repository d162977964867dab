// What every page does once it is there. Each page works without it too.
"use strict";

(() => {
  // Moments as how long ago they were; the exact one stays as the title.
  const STEPS = [[60, "second"], [3600, "minute"], [86400, "hour"], [7 * 86400, "day"]];
  const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

  function tellMoments() {
    for (const time of document.querySelectorAll("time[datetime]")) {
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

  tellMoments();
  setInterval(tellMoments, 15000);
  document.addEventListener("cutpurse:changed", tellMoments); // somebody put something new on the page
})();
