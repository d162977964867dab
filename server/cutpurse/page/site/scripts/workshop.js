// The workshop: a bot is written, played and compared in this tab. Its text is in the storage of the browser.
"use strict";

(async () => {
  const at = (id) => document.getElementById(id);
  const words = at("workshop").dataset, source = at("source"), game = at("game");
  const SILENT_S = 10, TIMES = 20; // a bot is stopped after so long without an answer, or this many times a whole match
  const MAX_SENT = 500_000; // characters of an archive in an address; browsers take a million or two

  // -- storage, which may be forbidden or full: then the texts live as long as the tab
  const texts = new Map();
  const store = (name, text) => {
    texts.set(name, text);
    try {
      localStorage.setItem(`cutpurse-${name}`, text);
      at("unkept").hidden = true;
    } catch { at("unkept").hidden = false; }
  };
  const stored = (name) => {
    try { return texts.get(name) ?? localStorage.getItem(`cutpurse-${name}`); } catch { return null; }
  };
  const nameOf = (version) => `${version}-${game.value}`;

  // -- the text: an editor, or without it the plain field
  const change = () => store(nameOf("bot"), editor.text);
  const plain = { get text() { return source.value; }, set text(text) { source.value = text; }, mark() {} };
  const faults = [];
  let editor = plain;
  const show = () => {
    source.value = stored(nameOf("bot")) ?? game.selectedOptions[0].dataset.starter;
    if (editor !== plain) editor.text = source.value;
    at("compare").disabled = stored(nameOf("before")) === null;
  };
  source.addEventListener("input", change);

  // -- one work at a time
  let work = null; // its kind
  let where = "", isOwn = false, silent = 0, patience = SILENT_S, send = null;
  const tell = (text, isTrouble = false) => {
    at("status").textContent = text;
    at("status").classList.toggle("bad", isTrouble);
  };
  const end = () => {
    work = null;
    at("run").hidden = false;
    at("stop").hidden = true;
    document.documentElement.dataset.works = "no"; // for tests
  };
  const fault = ({ text, line }) => {
    faults.push({ text, line });
    at("faults").append(Object.assign(document.createElement("li"), { textContent: text }));
    editor.mark(faults);
  };
  const start = () => {
    const receive = {
      speed: ({ seconds }) => { patience = Math.max(SILENT_S, Math.ceil(TIMES * seconds)); },
      asks: (asked) => { ({ where, own: isOwn } = asked); silent = 0; },
      counted: ({ text }) => tell(text),
      results: ({ html, lost, record }) => {
        at("results").innerHTML = html;
        at("replay").firstElementChild.textContent = lost ? words.lost : words.won;
        try { sessionStorage.setItem("cutpurse-match", record); at("replay").hidden = false; } catch { /* then it cannot be replayed */ }
      },
      verdict: ({ text }) => { at("verdict").textContent = text; },
      fault,
      packed: ({ name, zip }) => deliver(name, zip),
      done: ({ prints }) => {
        at("prints").textContent = prints;
        at("printed").hidden = !prints;
        tell("");
        end();
      },
    };
    const parsed = Object.entries(receive).map(([kind, take]) => [kind, (data) => take(JSON.parse(data))]);
    send = globalThis.cutpurseEngine({
      ...Object.fromEntries(parsed),
      ready: () => { if (!work) tell(""); },
      broken: (why) => { if (work) stop(words.broken.replace("{where}", () => where).replace("{why}", () => why)); else tell(why, true); },
    }, tell);
  };
  const begin = (kind, more = {}) => {
    if (work) return;
    faults.length = 0;
    at("faults").replaceChildren();
    editor.mark(faults);
    at("verdict").textContent = "";
    work = kind;
    [where, isOwn, silent] = ["", false, 0];
    at("run").hidden = true;
    at("stop").hidden = false;
    tell(words.works);
    send({ kind, game: game.value, bot: editor.text, opponent: at("opponent").value, ...more });
  };
  const stop = (text) => { // in a loop too: its worker ends, and another one starts
    const soFar = at("status").textContent;
    send.end();
    end();
    start();
    if (text) fault({ text, line: 0 });
    else at("verdict").textContent = words.stopped.replace("{far}", () => soFar);
  };
  setInterval(() => { // a count of looks, since no time passes for a machine that sleeps
    if (!work || !isOwn || ++silent < patience) return;
    stop(words.silent.replace("{seconds}", silent).replace("{where}", () => where));
  }, 1_000);

  // -- away from here
  let deliver = null; // what the packed bot is for
  const download = (name, zip) => {
    const content = Uint8Array.from(atob(zip), (sign) => sign.charCodeAt(0));
    const address = URL.createObjectURL(new Blob([content], { type: "application/zip" }));
    Object.assign(document.createElement("a"), { href: address, download: `${name}.zip` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  };
  const handIn = (league) => (name, zip) => {
    if (zip.length > MAX_SENT) return tell(words.large, true);
    const link = Object.assign(at("league-link"), { href: `${league}/me#bot=${name}:${zip}`, hidden: false });
    link.textContent = words.open.replace("{league}", () => league);
    link.focus();
  };
  const pack = (then, forLeague) => {
    at("league-link").hidden = true;
    if (!work) deliver = then;
    begin("pack", { name: at("name").value, forLeague });
  };

  at("run").addEventListener("click", () => begin("run"));
  at("stop").addEventListener("click", () => stop(""));
  at("keep").addEventListener("click", () => {
    store(nameOf("before"), editor.text);
    at("compare").disabled = false;
    at("verdict").textContent = words.before;
  });
  at("compare").addEventListener("click", () => begin("compare", { before: stored(nameOf("before")) }));
  at("again").addEventListener("click", () => { editor.text = game.selectedOptions[0].dataset.starter; change(); });
  at("download").addEventListener("click", () => pack(download, false));
  at("hand-in").addEventListener("submit", (event) => {
    event.preventDefault();
    let league = null;
    try { league = new URL(at("league").value); } catch { /* no address: told below */ }
    if (!/^https?:$/.test(league?.protocol)) return tell(words.address, true);
    store("league", league.origin);
    pack(handIn(league.origin), true);
  });
  game.addEventListener("change", () => { store("game", game.value); if (work) stop(""); show(); });

  if ([...game.options].some((option) => option.value === stored("game"))) game.value = stored("game");
  at("league").value = stored("league") ?? "";
  show();
  await globalThis.cutpurseOffline;
  try {
    const { openEditor } = await import(new URL(words.editor, location).href);
    editor = openEditor(at("editor"), words.label, change, () => begin("run"));
    editor.text = source.value;
    source.hidden = true;
    at("editor").hidden = false;
  } catch { tell(words.plain); } // the field does as well
  start();
  document.documentElement.dataset.workshop = "open"; // for tests
})();
