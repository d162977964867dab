// A table that this tab plays: what seat.js and end.js otherwise ask the server of the page.
"use strict";

(() => {
  const game = document.getElementById("seat").dataset.game;
  const opponents = new URLSearchParams(location.search).getAll("opponent");
  const asked = new Map(); // what waits for an answer, by number
  const early = []; // what came before seat.js listens
  let source = null, number = 0, isTrouble = false;

  const give = (kind) => (data) => {
    const news = new MessageEvent(kind, { data });
    if (source) source.dispatchEvent(news);
    else early.push(news);
  };
  const tell = (text, trouble = false) => {
    isTrouble ||= trouble;
    give("status")(JSON.stringify({ text, trouble }));
  };
  const settle = (data) => {
    const told = JSON.parse(data);
    asked.get(told.id)(told);
    asked.delete(told.id);
  };
  const news = Object.fromEntries(["whole", "step", "status", "over"].map((kind) => [kind, give(kind)]));
  const send = globalThis.cutpurseEngine({
    ...news,
    answered: settle,
    story: settle,
    record: (text) => { try { sessionStorage.setItem("cutpurse-match", text); } catch { /* then it cannot be replayed */ } },
    failed: (text) => tell(text, true),
  }, tell);
  const ask = (message) => new Promise((answered) => {
    asked.set(++number, answered);
    send({ ...message, id: number });
  });

  send({ kind: "begin", game, opponents });
  globalThis.cutpurseTable = {
    listen: () => {
      const isAgain = source !== null;
      source = Object.assign(new EventTarget(), { close() {} });
      if (isAgain && !isTrouble) send({ kind: "look" });
      queueMicrotask(() => { for (const news of early.splice(0)) source.dispatchEvent(news); });
      return source;
    },
    answer: async (_, body) => {
      const { text } = await ask({ kind: "answer", decision: Number(body.get("decision")), option: Number(body.get("option")) });
      return { ok: !text, json: async () => ({ text }) };
    },
    end: async () => {
      const { html } = await ask({ kind: "end" });
      return { status: 200, text: async () => html };
    },
  };
})();
