// The replay of a match in which the person has a bot: its notes and output at the moment, and what search would do there.
"use strict";

(async () => {
  const panel = document.getElementById("own"), player = document.getElementById("player");
  const text = document.getElementById("own-text"), button = document.getElementById("own-ask");
  const answer = document.getElementById("own-answer"), next = document.getElementById("own-next");
  const headers = { Accept: "application/json" };
  const response = await fetch(panel.dataset.decisions, { headers });
  if (!response.ok) return; // signed out meanwhile
  const { own, notes, before, problem, key } = await response.json();
  if (!own.length) return;
  const advice = new Map(); // by the index in the record
  let at = 0, asked = null; // the index of the question that search answers now

  const line = (words, kind) => {
    const one = document.createElement(kind === "note" ? "pre" : "p");
    one.className = kind;
    one.textContent = words;
    return one;
  };
  const say = (words) => answer.replaceChildren(line(words, "quiet"));
  const show = () => {
    at = Number(player.dataset.at);
    const isOwn = own.includes(at), found = [...(at === own[0] ? before : []), ...(notes[at] ?? [])];
    if (problem) text.replaceChildren(line(problem, "quiet"));
    else if (found.length) text.replaceChildren(...found.map((one) => line(one, "note")));
    else text.replaceChildren(line(isOwn ? panel.dataset.nothing : panel.dataset.notAsked, "quiet"));
    const later = own.find((one) => one > at) ?? own[0]; // round and round
    const ats = JSON.parse(player.dataset.ats);
    next.dataset.index = ats.indexOf(later);
    next.href = `${location.pathname}?at=${later}`;
    button.disabled = at === ats.at(-1) || asked !== null;
    if (advice.has(at)) answer.innerHTML = advice.get(at);
    else if (asked === at) say(panel.dataset.thinks);
    else answer.replaceChildren();
  };

  button.addEventListener("click", async () => {
    const here = asked = at;
    show();
    let words = panel.dataset.failed;
    try {
      const sent = await fetch(panel.dataset.search, { method: "POST", headers, body: new URLSearchParams({ at: here, key }) });
      const told = await sent.json();
      if (sent.ok) advice.set(here, told.html);
      else words = told.text;
    } catch { /* the words above say it */ }
    asked = null;
    show();
    if (!advice.has(here) && at === here) say(words);
  });

  panel.hidden = false;
  document.addEventListener("moment", show);
  show();
})();
