// The luck of a match that nobody has asked for yet: it is found beside the page, and then shown in its story.
"use strict";

(async () => {
  const address = document.getElementById("luck")?.dataset.address;
  if (!address) return;
  try {
    const answer = await fetch(address, { headers: { Accept: "text/html" } }); // leads back to this page
    const story = answer.ok && new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("story");
    if (story) document.getElementById("story").replaceWith(document.importNode(story, true));
  } catch { /* the link asks again */ }
})();
