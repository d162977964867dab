// A person's seat. What the others do is shown move by move, at a chosen pace. A move takes two acts: a card (or a verb, or
// a row of the list), and then its target, the same card again or "Play it". Without scripts the list is a plain form.
"use strict";

(() => {
  const QUICK_MS = 350, MANY = 12, FLY_MS = 320, CALM_MS = 300, REST = 0.3; // pace of others' moves
  const TWICE_MS = 350; // a second click before that belongs to a double click
  const THINKS_MS = 10000; // from then on the caption says it, too
  const AGAIN_MS = 3000, MOST_TRIES = 20; // to reach the page
  const seat = document.getElementById("seat"), words = seat.dataset, html = document.documentElement;
  const root = document.getElementById("moment"), aims = document.getElementById("aims");
  const status = document.getElementById("live-status"), problem = document.getElementById("seat-problem");
  const pace = document.getElementById("seat-pace"), goal = document.getElementById("goal"), title = document.title;
  const isStill = matchMedia("(prefers-reduced-motion: reduce)"), isPhone = matchMedia("(max-width: 56rem)");
  const $ = (where, from = root) => from.querySelector(where);
  const $$ = (where, from = root) => [...from.querySelectorAll(where)];
  const big = (text) => text.charAt(0).toLocaleUpperCase(html.lang) + text.slice(1);

  // Where the table is: at the page's server, or played by this tab itself (tab_table.js of the site).
  const table = globalThis.cutpurseTable ?? {
    listen: () => new EventSource(words.events),
    answer: (address, body) => fetch(address, { method: "POST", body, headers: { Accept: "application/json" } }),
  };

  let input = "mouse"; // "keys", "mouse" or "touch": how the person acts
  addEventListener("keydown", () => { input = "keys"; }, true);
  addEventListener("pointerdown", (event) => { input = event.pointerType === "mouse" ? "mouse" : "touch"; }, true);

  // -- what is chosen. `moves` are the options of the open question; `picked` are elements of the table by token
  let moves = [], picked = [], verb = null, fixed = null, isSent = false, isListed = false, since = 0, reading = null;
  let question = "", note = "", kept = null; // kept: what was chosen, if the same question comes again
  const form = () => $(".seat-options");
  const token = (card) => `k:${card.dataset.key}`;
  const elementOf = (one) => {
    const name = { k: "key", z: "zone", s: "seat" }[one[0]];
    return root.querySelector(`[data-${name}="${CSS.escape(one.slice(2))}"]`);
  };
  const boxOf = (one) => {
    const element = elementOf(one), lying = element?.matches(".pile, .lined") ? $(".lie", element) : element;
    const box = lying?.getBoundingClientRect(); // of a pile without its name
    return box && box.width > 4 && box.height > 4 ? box : null;
  };
  const has = (move, one) => move.parts.some((part) => part.includes(one));
  const open = () => (fixed ? [fixed] : moves.filter((move) => (!verb || move.verb === verb) && picked.every((one) => has(move, one))));
  const nextPart = (move) => move.parts.find((part) => !part.some((one) => picked.includes(one)));
  const litOf = (several) => new Set(several.flatMap((move) => (nextPart(move) ?? []).filter(boxOf)));
  const state = () => {
    if ($(".ends")) return "over";
    if (!moves.length) return "waits";
    if (isSent) return "plays";
    if (isListed) return "list";
    if (fixed || (picked.length && open().length === 1)) return "ready";
    return picked.length ? "chosen" : verb ? "verb" : "asked";
  };

  const faceOf = () => picked.map(elementOf).find((one) => one?.dataset.name ?? one?.dataset.face);
  const titleOf = (card) => card.dataset.name ?? $(".caption", card)?.textContent ?? "";
  const textOf = (card) => card?.dataset.text ?? "";

  // -- the table as it can be clicked
  function draw() {
    const now = state(), several = open(), isOpen = !["waits", "plays", "over"].includes(now);
    html.dataset.state = now;
    const lit = isOpen && now !== "ready" ? litOf(several) : new Set();
    const other = isOpen && picked.length ? litOf2() : new Set();
    const pairs = now === "ready" ? new Set(several[0].parts.filter((part) => part.some((one) => picked.includes(one))).flat()) : new Set(picked);
    for (const card of $$(".hand .card")) {
      const own = token(card);
      card.classList.toggle("lit", lit.has(own) || other.has(own));
      card.classList.toggle("half", !lit.has(own) && other.has(own) && !picked.includes(own));
      card.classList.toggle("chosen", isOpen && (picked.includes(own) || (several.length === 1 && pairs.has(own) && isPair(several[0], own))));
      card.setAttribute("aria-pressed", String(picked.includes(own)));
    }
    rove();
    measureTexts();
    drawAims(now, lit, several);
    drawAsk(now, several);
  }
  const litOf2 = () => new Set(moves.filter((move) => !verb || move.verb === verb).flatMap((move) => move.parts[0] ?? []).filter((one) => one[0] === "k" && boxOf(one)));
  // A pair of equal cards moves together: as many copies are raised as the move takes.
  const isPair = (move, own) => {
    const part = move.parts.find((one) => one.includes(own));
    const copies = move.count - (move.parts.filter((one) => one[0]?.[0] === "k").length - 1);
    const raised = [...picked.filter((one) => part.includes(one)), ...part.filter((one) => !picked.includes(one))].slice(0, Math.max(1, copies));
    return raised.includes(own);
  };
  // How high a card must be to show its whole text, if it has no room for it.
  const measureTexts = () => {
    const texts = $$(".hand .does");
    for (const text of texts) text.parentElement.classList.remove("cut");
    const lacking = texts.map((text) => [text.parentElement, text.scrollHeight - text.clientHeight]).filter(([, lack]) => lack > 0);
    for (const [card, lack] of lacking) {
      card.style.setProperty("--whole", `${card.offsetHeight + lack}px`);
      card.style.setProperty("--rise", `${-lack}px`);
      card.classList.add("cut");
    }
  };
  const rove = () => {
    const cards = $$(".hand .card"), focused = cards.find((card) => card === document.activeElement);
    const first = focused ?? cards.find((card) => card.classList.contains("chosen")) ?? cards.find((card) => card.classList.contains("lit")) ?? cards[0];
    for (const card of cards) card.tabIndex = card === first ? 0 : -1;
  };

  // Targets are real buttons that lie over what they stand for, wherever that is.
  function drawAims(now, lit, several) {
    const origin = aims.getBoundingClientRect();
    const focused = aims.contains(document.activeElement) ? document.activeElement.dataset.token : null;
    // Of equal cards one is enough, the one on top; of cards that overlap, what can be seen of each. Other cards of a
    // stack share its height, since only an edge of those below is seen.
    const tops = new Map();
    for (const one of [...lit, ...(now === "ready" ? picked : [])]) {
      if (!elementOf(one).matches(".hand .card")) tops.set(moves.flatMap((move) => move.parts).find((part) => part.includes(one))?.join(), one);
    }
    const boxes = new Map([...tops.values()].map((one) => [one, boxOf(one)]).filter(([, box]) => box));
    const widthOf = (box) => {
      const over = [...boxes.values()].filter((other) => other.left > box.left + 4 && other.left < box.right && Math.abs(other.top - box.top) < box.height / 2);
      return Math.min(box.right, ...over.map((other) => other.left)) - box.left;
    };
    const sliceOf = (one, box) => {
      if (one[0] !== "k") return box;
      const stack = [...boxes].filter(([other]) => other[0] === "k").map(([, other]) => other)
        .filter((other) => Math.abs(other.left - box.left) <= 4 && other.top < box.bottom && other.bottom > box.top)
        .sort((upper, lower) => upper.top - lower.top);
      const height = (Math.max(...stack.map((other) => other.bottom)) - stack[0].top) / stack.length;
      return { top: stack[0].top + height * stack.indexOf(box), height };
    };
    aims.replaceChildren(...[...boxes].map(([one, box]) => {
      const button = document.createElement("button"), here = several.filter((move) => has(move, one));
      button.type = "button";
      button.className = picked.includes(one) ? "aim chosen" : "aim";
      button.dataset.token = one;
      const tag = document.createElement("span");
      tag.textContent = [...new Set(here.map((move) => move.verb))].slice(0, 2).join(" / ");
      button.append(tag);
      button.setAttribute("aria-label", here.length === 1 ? here[0].text : `${tag.textContent}: ${here[0]?.where || titleOf(elementOf(one))}`);
      const slice = sliceOf(one, box);
      Object.assign(button.style, { left: `${box.left - origin.left}px`, top: `${slice.top - origin.top}px`, width: `${widthOf(box)}px`, height: `${slice.height}px` });
      return button;
    }));
    if (focused) $(`[data-token="${CSS.escape(focused)}"]`, aims)?.focus({ preventScroll: true });
  }

  // The line over the hand: the question, then what is chosen, with what can be done next.
  function drawAsk(now, several) {
    const ask = $(".ask.mine-now");
    if (!ask) return;
    const heading = $("h2", ask), text = $(".text", ask), go = $(".play-it", ask), card = faceOf();
    const move = now === "ready" || now === "plays" ? several[0] : null;
    if (move) heading.textContent = big(move.text);
    else if (reading && now === "asked") heading.textContent = titleOf(reading);
    else if (now === "chosen" && card) heading.textContent = words.where.replace("{card}", titleOf(card));
    else heading.innerHTML = question; // our own template's
    if (move || now === "chosen") text.textContent = textOf(card) || (move ? "" : words.lit);
    else if (reading && now === "asked") text.textContent = textOf(reading) || (moves.some((one) => has(one, token(reading))) ? "" : words.idle);
    else text.textContent = now === "verb" ? big(verb) : note;
    go.hidden = now !== "ready";
    $(".back-out", ask).hidden = !["verb", "chosen", "ready"].includes(now);
    const all = $(".all", ask);
    all.hidden = !["asked", "verb", "list"].includes(now);
    all.setAttribute("aria-expanded", String(isListed));
    form().classList.toggle("open", isListed);
    ask.classList.toggle("has-chosen", ["chosen", "ready"].includes(now));
    drawVerbs(now, several, $(".verbs", ask));
    if (now === "ready") {
      const left = TWICE_MS - (performance.now() - since);
      go.setAttribute("aria-disabled", String(left > 0));
      if (left > 0) setTimeout(() => { if ($(".play-it") === go) go.setAttribute("aria-disabled", "false"); }, left);
    }
  }
  // Verbs to begin with; later the moves that no click on the table can tell apart.
  function drawVerbs(now, several, box) {
    const chips = [];
    const chip = (label, count, act) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = big(label);
      if (count > 1) button.append(Object.assign(document.createElement("small"), { textContent: ` ${count}` }));
      button.addEventListener("click", act);
      chips.push(button);
    };
    const names = [...new Set(moves.map((move) => move.verb))];
    if (now === "asked" && names.length > 1 && !(names.length > 4 && isPhone.matches && names.every((name) => reaches(name)))) {
      for (const name of names) {
        const own = moves.filter((move) => move.verb === name);
        chip(own.length === 1 && !own[0].parts.length ? own[0].text : name, own.length, () => begin(name, own));
      }
    } else if (["asked", "verb", "chosen"].includes(now)) {
      const loose = several.filter((move) => !nextPart(move)?.some(boxOf));
      const isTold = new Set(loose.map((move) => move.verb)).size === loose.length && now !== "verb" && now !== "asked";
      if (several.length > 1) for (const move of loose) chip(isTold ? move.verb : move.short || move.text, 1, () => fix(move));
    }
    box.replaceChildren(...chips);
    box.hidden = !chips.length;
  }
  const reaches = (name) => moves.filter((move) => move.verb === name).every((move) => move.parts[0]?.some(boxOf));

  // -- acts of the person
  let acts = 0; // for tests that wait for an act to be taken
  const acted = () => { html.dataset.acts = ++acts; since = performance.now(); reading = null; problem.textContent = ""; };
  function begin(name, own) {
    if (own.length === 1) { fix(own[0]); return; }
    acted();
    verb = name;
    draw();
    focusOn(".hand .card.lit", ".verbs button");
  }
  function fix(move) { // by its verb or its row in the list, and not by the table
    const isSecond = picked.length > 0 || verb !== null;
    acted();
    [verb, fixed, isListed] = [move.verb, move, false];
    picked = move.parts.map((part) => part.find((one) => picked.includes(one)) ?? part[0]);
    confirm(isSecond);
  }
  // A mouse or a key plays by its second act. A finger may have slipped: it gets the text, and "Play it".
  function confirm(isSecond) {
    if (open().length === 1 && isSecond && input !== "touch") { play(); return; }
    draw();
    if (input !== "keys") return;
    if (state() === "ready") $(".play-it").focus();
    else if (state() === "chosen") (aims.firstElementChild ?? $(".hand .card.lit:not(.half):not(.chosen)") ?? $(".verbs button"))?.focus();
  }
  function choose(card) {
    const own = token(card);
    if (isSent || !moves.some((move) => has(move, own))) { read(card); return; }
    if (fixed) [fixed, picked, verb] = [null, [], null];
    const several = open(), isSame = picked.length && several.every((move) => move.parts.some((part) => part.includes(own) && part.some((one) => picked.includes(one))));
    if (isSame) {
      if (state() === "ready" && performance.now() - since > TWICE_MS) play();
      return;
    }
    if (picked.length && litOf(several).has(own)) { acted(); picked.push(own); confirm(true); return; }
    if (!moves.some((move) => (!verb || move.verb === verb) && has(move, own))) verb = null;
    const isSecond = verb !== null;
    acted();
    picked = [own];
    tell(`${titleOf(card)}. ${textOf(card)}`);
    confirm(isSecond);
  }
  function aim(one) {
    const isSecond = picked.length > 0 || verb !== null;
    if (picked.includes(one)) { if (performance.now() - since > TWICE_MS) play(); return; }
    acted();
    picked.push(one);
    confirm(isSecond);
  }
  function read(card) {
    reading = card;
    tell(`${titleOf(card)}. ${textOf(card)}`);
    draw();
    const ask = $(".ask.waits");
    if (ask) $(".text", ask).textContent = `${titleOf(card)}. ${textOf(card)}`;
  }
  function back() {
    const card = picked.length === 1 ? elementOf(picked[0]) : null;
    problem.textContent = "";
    if (fixed) [fixed, picked, verb] = [null, [], null];
    else if (picked.length) picked.pop();
    else verb = null;
    reading = null;
    draw();
    if (input === "keys") (card?.matches(".hand .card") ? card : $(".hand .card.chosen") ?? $(".hand .card.lit") ?? $(".verbs button"))?.focus();
  }
  function list(is = !isListed) {
    if (!moves.length || isSent) return;
    isListed = is;
    if (is) [picked, fixed, verb] = [[], null, null];
    draw();
    if (is) $(".pick", form()).focus();
    else if (input === "keys") focusOn(".hand .card.lit", ".all");
  }
  const focusOn = (...wheres) => { if (input === "keys") wheres.map((where) => $(where)).find(Boolean)?.focus({ preventScroll: true }); };

  // The number of the decision goes with the answer, so that none is taken twice; `isSent` is set before anything is sent.
  async function play() {
    const [move] = open(), asked = form();
    if (!move || isSent || !asked) return;
    isSent = true;
    draw();
    fly(move);
    const body = new URLSearchParams({ decision: asked.elements.decision.value, option: move.index });
    let text = words.failed, isRefused = false;
    try {
      const answer = await table.answer(asked.action, body);
      if (answer.ok) return;
      isRefused = true;
      text = (await answer.json()).text;
    } catch { /* it may not have arrived: what was chosen stays, to be sent again */ }
    if (form() !== asked) return; // the table has gone on meanwhile
    isSent = false;
    if (isRefused) [picked, fixed, verb] = [[], null, null];
    since = 0;
    problem.textContent = text;
    draw();
  }
  function fly(move) {
    if (isStill.matches) return;
    const target = move.parts.map((part) => part.find((one) => one[0] !== "k")).find(Boolean);
    const to = (target ? elementOf(target) : $(".centre"))?.getBoundingClientRect();
    for (const card of to ? $$(".hand .card.chosen") : []) {
      const from = card.getBoundingClientRect();
      const x = to.left + to.width / 2 - from.left - from.width / 2, y = to.top + to.height / 2 - from.top - from.height / 2;
      card.animate([{ transform: "none", zIndex: 20 }, { transform: `translate(${x}px, ${y}px) scale(.5)`, opacity: 0.4, zIndex: 20 }], { duration: FLY_MS, easing: "cubic-bezier(.3,.7,.3,1)" });
    }
  }

  // -- a new moment
  let until = 0, bank = 0, thinksSince = 0, captionStep = null;
  const minutes = (ms) => `${Math.floor(ms / 60000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, "0")}`;
  function tick() {
    const clock = $(".seat-clock"), secs = $(".secs");
    if (clock && moves.length) {
      const base = until - performance.now(), left = Math.max(0, bank + Math.min(0, base));
      if (isPhone.matches) $(".seat-left", clock).textContent = minutes(base > 0 ? base : left);
      else $(".seat-left", clock).textContent = (base > 0 ? words.clock.replace("{base}", minutes(base)) : words.reserve).replace("{bank}", minutes(left));
      clock.classList.toggle("soon", base + left < 30000);
    }
    if (!secs) return;
    const thinks = performance.now() - thinksSince;
    secs.textContent = words.seconds.replace("{seconds}", Math.floor(thinks / 1000));
    if (thinks > THINKS_MS && !queue.length) {
      const line = $(".caption .thinking") ?? $(".caption").appendChild(Object.assign(document.createElement("p"), { className: "thinking" }));
      line.textContent = `${$(".ask h2").textContent} ${secs.textContent}`;
    }
  }
  setInterval(tick, 1000);
  function read_moves() {
    moves = $$("button[name=option]", form() ?? document.createElement("form")).map((button) => ({
      index: button.value,
      verb: button.dataset.verb,
      parts: button.dataset.parts ? button.dataset.parts.split("|").map((part) => part.split(",")) : [],
      text: $(".unseen", button).textContent,
      short: button.firstElementChild.textContent,
      where: button.closest("tr").children[1].textContent,
      count: Number(button.dataset.count),
    }));
  }
  function arrived(at, base_ms, bank_ms) {
    const number = form()?.elements.decision.value ?? "";
    if (kept?.number === number && number) ({ picked, verb, fixed } = kept);
    else [picked, verb, fixed] = [[], null, null];
    isSent = isListed = false;
    reading = null;
    read_moves();
    if (fixed) fixed = moves.find((move) => move.index === fixed.index) ?? null;
    if (picked.some((one) => !elementOf(one))) [picked, fixed] = [[], null];
    goal.textContent = $(".common > .goal")?.textContent ?? goal.textContent;
    document.title = number ? `${words.yourTurn} · ${title}` : title;
    [until, bank, thinksSince] = [at + base_ms, bank_ms, at];
    if (number) {
      question = $(".ask h2").innerHTML;
      note = $(".ask .text").textContent;
      html.dataset.decision = number; // for tests that wait for it
      if (document.activeElement === document.body || root.contains(document.activeElement)) {
        const first = $(".hand .card.lit");
        if (input === "keys" && !picked.length) requestAnimationFrame(() => focusOn(".hand .card.lit", ".verbs button", ".all"));
        else if (first && !isPhone.matches && input === "mouse") first.focus({ preventScroll: true, focusVisible: false });
      }
    } else $("[data-focus]")?.focus({ preventScroll: true });
    for (const button of $$("[data-copy]")) button.hidden = !navigator.clipboard;
    const skip = $(".hurry");
    if (skip) skip.hidden = !queue.length;
    tick(); // before targets are laid over the table: the clock decides how high the question is
    draw();
  }
  function show({ text, ms, at, base_ms = 0, bank_ms = 0 }) {
    const focused = root.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
    const number = form()?.elements.decision.value;
    kept = number && !isSent ? { number, picked, verb, fixed } : null;
    document.dispatchEvent(new CustomEvent("put", { detail: { html: text, ms } }));
    const turns = $(".turns");
    if (turns) turns.scrollTop = turns.scrollHeight;
    if (focused) $(`.hand [data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    arrived(at, base_ms, bank_ms);
    document.dispatchEvent(new Event("shown")); // for end.js
  }

  // -- what comes from the page, in order and at a pace
  const queue = [];
  let lines = null, source = null, isOver = false, tries = 0, again = 0, timer = 0, isHurried = false;
  const tell = (text) => { if (status.textContent !== text) status.textContent = text; };
  const say = ({ text, trouble }) => { tell(text); status.classList.toggle("bad", Boolean(trouble)); if (trouble) problem.textContent = text; };
  const rest = () => {
    const chosen = Number(pace.value);
    if (isHurried || document.hidden || !chosen) return 0;
    if (isStill.matches) return CALM_MS;
    return queue.filter((one) => one.kind !== "status").length > MANY ? Math.min(chosen, QUICK_MS) : chosen;
  };
  function next() {
    timer = 0;
    while (queue.length && !timer) {
      const news = queue.shift(), ms = news.kind === "status" ? 0 : step(news);
      if (news.kind === "status") say(news);
      if (ms) timer = setTimeout(next, ms);
    }
    if (!queue.length && !timer) isHurried = false;
    html.dataset.waiting = queue.length;
  }
  // A step is one choice of a player: the table goes to where it led, and its acts are said one after another.
  function step(news) {
    const isFirst = lines === null;
    lines = news.kind === "whole" ? news.lines : news.lines.flatMap((one) => (typeof one === "string" ? one : lines.slice(one[0], one[1])));
    const pause = isFirst ? 0 : rest();
    show({ ...news, text: lines.join("\n"), ms: pause ? Math.min(FLY_MS, pause) : 0 });
    html.dataset.moment = news.number;
    const caption = $(".caption"), isNew = caption && caption.dataset.step !== captionStep;
    captionStep = caption?.dataset.step ?? null;
    const acts = isNew ? [...caption.children] : [];
    for (const act of caption?.children ?? []) act.hidden = act !== caption.lastElementChild;
    if (acts.length) tell(acts.map((act) => act.textContent).join(". "));
    if (!pause || moves.length || $(".ends")) return 0;
    return acts.length ? unfold(acts, pause) : pause * REST;
  }
  const unfold = (acts, pause) => {
    acts.forEach((act, place) => { act.hidden = place > 0; });
    acts.slice(1).forEach((act, place) => setTimeout(() => { acts[place].hidden = true; act.hidden = false; }, (place + 1) * pause));
    return acts.length * pause;
  };
  function hurry() {
    isHurried = true;
    clearTimeout(timer);
    next();
  }
  const take = (kind) => (event) => {
    queue.push({ kind, at: performance.now(), ...JSON.parse(event.data) });
    if (!timer) { next(); return; }
    html.dataset.waiting = queue.length;
    const skip = $(".hurry");
    if (skip) skip.hidden = false;
  };
  function connect() {
    source = table.listen();
    source.addEventListener("open", () => { tries = 0; problem.textContent = problem.textContent === words.lost ? "" : problem.textContent; });
    for (const kind of ["whole", "step", "status"]) source.addEventListener(kind, take(kind));
    source.addEventListener("over", () => { isOver = true; source.close(); });
    source.onerror = () => {
      // Refused, which browsers leave at that: a proxy does so too while the page behind it is started again.
      const isRefused = source.readyState === EventSource.CLOSED;
      if (isRefused && ++tries > MOST_TRIES) { say({ text: words.gone, trouble: true }); return; }
      if (isRefused) { lines = null; again = setTimeout(connect, AGAIN_MS); }
      say({ text: words.lost, trouble: true });
    };
  }
  addEventListener("pagehide", () => { clearTimeout(again); source.close(); });
  addEventListener("pageshow", (event) => { if (event.persisted && !isOver) { lines = null; connect(); } }); // by "back"

  // -- mouse, touch and keys
  root.addEventListener("click", (event) => {
    const on = (where) => event.target.closest(where);
    if (on(".hand .card")) choose(on(".hand .card"));
    else if (on(".play-it")) { if (on(".play-it").getAttribute("aria-disabled") !== "true") play(); }
    else if (on(".back-out")) back();
    else if (on(".all")) list();
    else if (on(".hurry, .caption")) hurry();
  });
  aims.addEventListener("click", (event) => { const button = event.target.closest(".aim"); if (button) aim(button.dataset.token); });
  document.addEventListener("submit", (event) => {
    if (!event.target.matches(".seat-options")) return;
    event.preventDefault();
    const move = moves.find((one) => one.index === event.submitter?.value);
    if (move && !isSent) { [picked, verb] = [[], null]; fix(move); if (input !== "keys") $(".play-it")?.focus(); }
  });
  function along(by) {
    const cards = $$(".hand .card"), at = cards.indexOf(document.activeElement);
    const to = at < 0 ? cards.find((card) => card.tabIndex === 0) : cards[(at + by + cards.length) % cards.length];
    if (!to) return;
    to.focus();
    rove();
    if (!picked.length && !isListed) read(to);
  }
  const row = () => {
    const cards = $$(".hand .card"), top = cards[0]?.getBoundingClientRect().top;
    return cards.filter((card) => Math.abs(card.getBoundingClientRect().top - top) < 12).length || 1;
  };
  document.addEventListener("keydown", (event) => {
    const on = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || on.matches("select, input, textarea")) return;
    const by = { ArrowRight: () => 1, ArrowLeft: () => -1, ArrowDown: row, ArrowUp: () => -row() }[event.key];
    if (by && !on.closest(".turns, .moves")) { event.preventDefault(); along(by()); }
    else if (event.key === " " && !on.closest("button, a, summary")) { event.preventDefault(); hurry(); }
    else if (event.key === " " && state() === "waits" && on.closest(".hand")) { event.preventDefault(); hurry(); }
    else if (event.key === "Escape") { if (html.classList.contains("story-open")) unfoldStory(false); else if (isListed) list(false); else if (moves.length && !isSent) back(); }
    else if (event.key === "l" || event.key === "L") list();
    else if (event.key === "Enter" && event.repeat) event.preventDefault(); // held down
  });
  addEventListener("resize", () => requestAnimationFrame(() => requestAnimationFrame(() => { tick(); draw(); })));

  // -- the link for friends
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const link = document.getElementById(button.dataset.copy);
    link.select();
    try {
      await navigator.clipboard.writeText(link.value);
      button.textContent = words.copied;
    } catch {
      button.textContent = words.notAllowed;
    }
  });

  // -- what has happened: beside the table, or on a phone a sheet over it
  const teller = document.querySelector(".tell-story");
  const unfoldStory = (is) => {
    teller.setAttribute("aria-expanded", String(is));
    html.classList.toggle("story-open", is);
    const turns = $(".turns");
    if (is && turns) { turns.scrollTop = turns.scrollHeight; turns.focus(); } else if (!is) teller.focus();
  };
  teller.hidden = false;
  teller.addEventListener("click", () => unfoldStory(!html.classList.contains("story-open")));
  root.addEventListener("click", (event) => { if (html.classList.contains("story-open") && !event.target.closest(".story")) unfoldStory(false); });

  html.classList.add("scripted");
  pace.closest("label").hidden = false;
  pace.value = localStorage.getItem("cutpurse-pace") ?? pace.value;
  pace.addEventListener("change", () => localStorage.setItem("cutpurse-pace", pace.value));
  captionStep = $(".caption")?.dataset.step ?? null;
  for (const act of $$(".caption p").slice(0, -1)) act.hidden = true;
  const asked = form();
  show({ text: root.innerHTML, ms: 0, at: performance.now(), base_ms: Number(asked?.dataset.baseMs), bank_ms: Number(asked?.dataset.bankMs) });
  connect();
})();
