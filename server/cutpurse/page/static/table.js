// Tables that move: a replay that is stepped through, and a live match. Without scripts both pages have plain links.
"use strict";

(() => {
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  // -- one moment in place of another
  // Cards are followed by where they lie in their zones, so that nothing flies only because a zone has moved.
  const places = (root) => {
    const cards = new Map(), zones = new Map();
    for (const zone of root.querySelectorAll("[data-zone]")) {
      const lies = (zone.matches(".tags") ? zone.parentElement : zone).getBoundingClientRect(), number = zone.dataset.zone;
      zones.set(number, { zone, lies, seat: zone.closest("[data-seat]")?.dataset.seat });
      for (const card of zone.querySelectorAll("[data-key]")) {
        const box = card.getBoundingClientRect();
        const { key, face, from } = card.dataset;
        if (box.width) cards.set(key, { card, box, zone: number, x: box.x - lies.x, y: box.y - lies.y, face, from });
      }
    }
    return { cards, zones };
  };

  const fly = (card, dx, dy, ms) => {
    if (Math.abs(dx) < 1 && Math.abs(dy) < 1) return;
    const far = Math.hypot(dx, dy) > 40;
    const steps = [{ transform: `translate(${dx}px, ${dy}px)`, zIndex: 20 }, { transform: "none", zIndex: 20 }];
    if (far) steps.splice(1, 0, { transform: `translate(${dx / 2}px, ${dy / 2}px) scale(1.15)`, zIndex: 20 });
    card.animate(steps, { duration: far ? ms : ms / 2, easing: "cubic-bezier(.3,.7,.3,1)" });
  };

  // Where a card that is new here lay before: the same face that has left, best from the zone that is named.
  const origin = (one, left) => {
    let best = null, points = 0;
    for (const was of left.values()) {
      if (was.face !== one.face) continue;
      const found = was.zone === one.from ? 3 : was.from === one.zone ? 2 : 1;
      if (found > points) { best = was; points = found; }
    }
    return best;
  };

  // What was chosen and what is new in the log is seen, however long the lists are.
  const scrolled = (root) => {
    for (const seen of root.querySelectorAll(".options .chosen, .log .now:last-of-type, .log .now")) {
      const panel = seen.closest("section");
      const by = seen.getBoundingClientRect().top - panel.getBoundingClientRect().top;
      panel.scrollTop += by - (panel.clientHeight - seen.offsetHeight) / 2;
    }
  };

  // Who took from whom: a ring around what was taken, one around the player who lost it, and an arrow between them.
  const markSteals = (root) => {
    const board = root.querySelector(".board"), taken = new Map();
    for (const zone of board?.querySelectorAll("[data-robbed]") ?? []) {
      const cards = zone.matches(".tags") ? [...zone.querySelectorAll("[data-from]")] : [zone];
      for (const one of cards.length ? cards : [...zone.children]) taken.set(one, zone.dataset.robbed);
    }
    if (!taken.size) return;
    const origin = board.getBoundingClientRect();
    const middle = ({ left, top, width, height }) => [left + width / 2 - origin.left, top + height / 2 - origin.top];
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("class", "arrows");
    svg.setAttribute("aria-hidden", "true");
    for (const [zone, loser] of taken) {
      const from = board.querySelector(`[data-seat="${CSS.escape(loser)}"]`), box = zone.getBoundingClientRect();
      zone.classList.add("taken");
      from.classList.add("robbed");
      const lost = from.getBoundingClientRect(), [x, y] = middle(box), [a, b] = middle(lost), far = Math.hypot(x - a, y - b) || 1;
      const [right, down] = [(x - a) / far, (y - b) / far]; // from the edge of the loser to the edge of what was taken
      const leave = Math.min(lost.width / 2 / Math.abs(right || 1e-9), lost.height / 2 / Math.abs(down || 1e-9), far);
      const reach = far - Math.min(box.width / 2 / Math.abs(right || 1e-9), box.height / 2 / Math.abs(down || 1e-9)) - 6;
      const tip = [a + right * reach, b + down * reach], angle = Math.atan2(down, right);
      const head = [2.6, -2.6].map((turn) => `${tip[0] + 14 * Math.cos(angle + turn)} ${tip[1] + 14 * Math.sin(angle + turn)}`);
      const color = [...zone.closest("[data-seat]").classList].find((name) => /^s-\d/.test(name));
      const lines = { line: `M${a + right * leave} ${b + down * leave}L${tip.join(" ")}`, head: `M${head[0]}L${tip.join(" ")}L${head[1]}` };
      for (const [kind, d] of Object.entries(reach > leave ? lines : {})) {
        const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
        path.setAttribute("class", `${kind} ${color}`);
        path.setAttribute("d", d);
        svg.append(path);
      }
    }
    board.append(svg);
    addEventListener("resize", () => svg.remove(), { once: true }); // the rings stay
  };

  const put = (root, html, ms) => {
    const open = [...root.querySelectorAll(".rest[open]")].map((one) => one.closest("[data-zone]").dataset.zone);
    const moves = ms > 60 && !still.matches;
    const before = moves ? places(root) : null;
    root.innerHTML = html;
    for (const zone of open) {
      root.querySelector(`[data-zone="${zone}"] details`)?.setAttribute("open", "");
    }
    scrolled(root);
    if (!root.matches(".seat")) markSteals(root);
    if (!moves) return;
    const { cards, zones } = places(root);
    for (const [number, { zone, lies, seat }] of zones) {
      const was = before.zones.get(number);
      if (was && was.seat !== seat) fly(zone, was.lies.x - lies.x, was.lies.y - lies.y, ms); // it was taken away
    }
    const left = new Map([...before.cards].filter(([key]) => !cards.has(key)));
    for (const [key, one] of cards) {
      const was = before.cards.get(key);
      if (was) { fly(one.card, was.x - one.x, was.y - one.y, ms); continue; }
      const lay = origin(one, left);
      if (lay) {
        left.delete(lay.card.dataset.key);
        const zone = zones.get(lay.zone)?.lies;
        const x = zone ? zone.x + lay.x : lay.box.x, y = zone ? zone.y + lay.y : lay.box.y;
        fly(one.card, x - one.box.x, y - one.box.y, ms);
        continue;
      }
      const from = (zones.get(one.from) ?? before.zones.get(one.from))?.lies;
      if (from) fly(one.card, from.x + from.width / 2 - one.box.x - one.box.width / 2, from.y + from.height / 2 - one.box.y - one.box.height / 2, ms);
      else one.card.animate([{ opacity: 0 }, { opacity: 1 }], { duration: ms / 2 });
    }
  };

  // -- a replay
  const END_MS = 8000; // for which the end of a match is shown before the next one
  const replay = (player) => {
    const list = (name) => JSON.parse(player.dataset[name]);
    const ats = list("ats"), jumps = { fault: list("faults"), steal: list("steals"), turn: list("turns"), point: list("points") };
    const batch = Number(player.dataset.batch), last = ats.length - 1;
    const root = document.getElementById("moment"), slider = document.getElementById("at");
    const play = document.getElementById("play"), speed = document.getElementById("speed");
    const position = document.getElementById("position"), status = document.getElementById("status");
    const turning = document.getElementById("turning"), decided = turning?.innerHTML;
    const batches = new Map();
    const { following } = player.dataset; // the next page of a list that plays by itself
    const paceMs = () => Number(player.dataset.pace ?? speed.value);
    let index = Number(player.dataset.index), wanted = index, timer = 0, kept = 0, isPainted = true;

    const unpacked = ({ lines, frames }) => {
      let before = [];
      return frames.map(([same, ends, ...middle]) => {
        before = [...before.slice(0, same), ...middle, ...before.slice(before.length - ends)];
        return before.map((place) => lines[place]).join("\n");
      });
    };
    // In a file that was kept, all moments are in the page.
    const inside = document.getElementById("moments");
    const whole = inside && new Response(
      new Blob([Uint8Array.from(atob(inside.textContent), (sign) => sign.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream("gzip")),
    ).json().then(unpacked);
    const fetched = (number) => {
      if (whole) return whole.then((frames) => frames.slice(number * batch, (number + 1) * batch));
      if (!batches.has(number)) {
        const asked = fetch(player.dataset.frames + number * batch)
          .then((answer) => { if (!answer.ok) throw new Error(answer.status); return answer.json(); })
          .then(unpacked);
        asked.catch(() => batches.delete(number));
        batches.set(number, asked);
        if (batches.size > 24) batches.delete(batches.keys().next().value);
      }
      return batches.get(number);
    };
    const next = (places, from) => places.find((one) => one > from);
    const previous = (places, from) => places.filter((one) => one < from).at(-1);
    const goal = (name) => {
      const [what, back] = name.split("-");
      if (name === "steal") return next(jumps.steal, wanted) ?? jumps.steal[0]; // round and round
      if (what in jumps) return (back ? previous : next)(jumps[what], wanted);
      return { first: 0, last, on: Math.min(wanted + 1, last), back: Math.max(wanted - 1, 0) }[what];
    };
    const address = (to) => {
      const query = new URLSearchParams(location.search);
      query.set("at", ats[to]);
      return `${location.pathname}?${query}`;
    };

    const shown = () => {
      slider.value = ats[index];
      position.textContent = position.dataset.words.replace("{number}", index).replace("{all}", last);
      for (const way of player.querySelectorAll("[data-go]")) {
        const to = goal(way.dataset.go);
        if (to === undefined || to === index) { way.removeAttribute("href"); way.setAttribute("aria-disabled", "true"); }
        else { way.href = address(to); way.removeAttribute("aria-disabled"); }
      }
      for (const way of player.querySelectorAll("a[data-viewer]")) {
        const query = new URLSearchParams(new URL(address(index), location).search);
        if (way.dataset.viewer) query.set("seat", way.dataset.viewer);
        else query.delete("seat");
        way.href = `${location.pathname}?${query}`;
      }
      if (turning) {
        const point = jumps.point.findLast((one) => one <= index);
        const told = point !== undefined && index < last && document.querySelector(`.swings [data-index="${point}"] + span`);
        turning.innerHTML = told ? told.innerHTML : following && index < last ? "" : decided;
      }
      player.style.setProperty("--part", index / last);
      clearTimeout(kept); // browsers count how often an address is changed
      if (!whole && !following) kept = setTimeout(() => history.replaceState(null, "", address(index)), 150);
      player.dataset.at = ats[index];
      document.dispatchEvent(new Event("moment")); // for what is shown beside the replay
      document.documentElement.dataset.moment = index; // for tests
    };
    const go = async (to) => {
      if (to === undefined || to < 0 || to > last) return;
      wanted = to;
      let html;
      try {
        html = (await fetched(Math.floor(to / batch)))[to % batch];
      } catch {
        status.textContent = player.dataset.failed;
        pause();
        return;
      }
      if (wanted !== to) return; // another was asked for meanwhile
      const ms = Math.abs(to - index) === 1 ? Math.min(420, timer ? paceMs() * 0.8 : 420) : 260;
      index = to;
      put(root, html, ms);
      shown();
      isPainted = false;
      requestAnimationFrame(() => setTimeout(() => { isPainted = true; }));
      if (!timer) status.textContent = root.querySelector(".decided h2")?.textContent ?? "";
      for (const near of [to - batch / 4, to + batch / 4]) {
        const number = Math.floor(near / batch);
        if (near >= 0 && near <= last && !batches.has(number)) fetched(number).catch(() => {});
      }
    };
    const playing = (words, sign) => {
      play.setAttribute("aria-label", words);
      play.querySelector("use").setAttribute("href", `#e-${sign}`);
    };
    const pause = () => { clearTimeout(timer); timer = 0; playing(player.dataset.play, "on"); };
    const step = async () => {
      await go(wanted + 1);
      if (!timer) return;
      if (wanted < last) timer = setTimeout(step, paceMs());
      else {
        pause();
        if (following) setTimeout(() => location.assign(following), END_MS);
      }
    };
    const begin = (ms) => {
      playing(player.dataset.pause, "pause");
      timer = setTimeout(step, ms);
    };
    const toggle = () => {
      if (timer) { pause(); return; }
      if (wanted >= last) wanted = -1;
      begin(0);
    };
    speed.addEventListener("change", () => delete player.dataset.pace);

    const KEYS = { ArrowRight: "on", ArrowLeft: "back", Home: "first", End: "last", f: "fault", F: "fault-back", s: "steal", S: "steal-back", t: "turn", T: "turn-back", n: "point", N: "point-back" };
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const on = event.target.tagName;
      if (on === "SELECT" || (on === "INPUT" && /^(Arrow|Home|End)/.test(event.key))) return; // the slider does that itself
      if (event.key === " " && on !== "BUTTON" && on !== "SUMMARY") { event.preventDefault(); toggle(); }
      else if (Object.hasOwn(KEYS, event.key)) {
        event.preventDefault();
        if (event.repeat && !isPainted) return; // held down: as fast as it can be seen, and no further once let go
        pause();
        go(goal(KEYS[event.key]));
      }
    });
    document.addEventListener("click", (event) => {
      const to = event.target.closest("[data-go], [data-index]:not(#player)");
      if (!to || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault();
      pause();
      go(to.dataset.go ? goal(to.dataset.go) : Number(to.dataset.index));
    });
    slider.addEventListener("input", () => {
      pause();
      const at = Number(slider.value);
      let to = ats.findIndex((one) => one > at) - 1;
      if (to < -1) to = last;
      go(Math.max(0, to));
    });
    slider.form.addEventListener("submit", (event) => { if (event.submitter?.name !== "as") event.preventDefault(); });
    play.addEventListener("click", toggle);

    // A swipe leads to the next turning point or the one before; a seat, which has none, goes from turn to turn.
    const SWIPE = 60; // px
    let touch = null;
    root.addEventListener("touchstart", (event) => { touch = event.touches.length === 1 ? event.touches[0] : null; }, { passive: true });
    root.addEventListener("touchend", (event) => {
      if (!touch) return;
      const end = event.changedTouches[0], across = end.clientX - touch.clientX, down = end.clientY - touch.clientY;
      touch = null;
      if (Math.abs(across) < Math.max(SWIPE, 2 * Math.abs(down))) return;
      const what = jumps.point.length ? "point" : "turn";
      pause();
      go(goal(across < 0 ? what : `${what}-back`));
    }, { passive: true });

    markSteals(root);
    const copies = (id, text) => {
      const button = document.getElementById(id), words = button?.textContent;
      if (!button || whole || !navigator.clipboard) return;
      button.hidden = false;
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(text(button));
        button.textContent = player.dataset.copied;
        setTimeout(() => { button.textContent = words; }, 1500);
      });
    };
    const absolute = (path) => new URL(path, location.href).href;
    copies("link", () => `${absolute(address(index))}#play`);
    copies("embed", (button) => {
      const framed = absolute(`${button.dataset.address}?at=${ats[index]}${seen()}`).replaceAll("&", "&amp;");
      return `<iframe src="${framed}" width="960" height="640" loading="lazy" title="Cutpurse"></iframe>`;
    });

    // Pictures of the moment that is shown, and an animation from a moment that was marked to another.
    const share = document.getElementById("pictures"), more = document.getElementById("more");
    const stretch = { begin: -1, end: -1 };
    const seen = () => {
      const seat = new URLSearchParams(location.search).get("seat");
      return seat ? `&seat=${encodeURIComponent(seat)}` : "";
    };
    const pictured = () => {
      for (const one of share?.querySelectorAll("[data-picture]") ?? []) {
        one.href = `${share.dataset.pictures}/picture.${one.dataset.picture}?at=${ats[index]}${seen()}`;
      }
    };
    const marked = () => {
      const { begin, end } = stretch, most = Number(share.dataset.most), animation = document.getElementById("animation");
      const count = end - begin + 1, isWhole = begin >= 0 && end >= begin && count <= most;
      animation.hidden = !isWhole;
      if (isWhole) animation.href = `${share.dataset.pictures}/animation.gif?from=${ats[begin]}&to=${ats[end]}${seen()}`;
      const said = share.dataset;
      const text = end < 0 ? said.begins : begin < 0 ? said.ends : end < begin ? said.reversed : count > most ? said.many : said.whole;
      const values = { begin, end, count, most };
      document.getElementById("stretch-status").textContent = text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
      more.open = true;
    };
    const mark = (what) => { stretch[what] = index; marked(); };
    const stretchRow = document.getElementById("stretch");
    if (stretchRow) {
      stretchRow.hidden = false;
      for (const id of ["begin", "end"]) document.getElementById(id).addEventListener("click", () => mark(id));
      document.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
        if (event.key === "b") mark("begin");
        else if (event.key === "e") mark("end");
      });
    }
    document.addEventListener("moment", pictured);
    for (const id of ["play", "pace"]) document.getElementById(id).hidden = false;
    document.getElementById("go").hidden = true;
    fetched(Math.floor(index / batch)).catch(() => {});
    scrolled(root);
    shown();
    const linked = new URLSearchParams(location.search).get("at");
    if (whole && linked) go(Math.max(0, ats.findLastIndex((one) => one <= Number(linked))));
    // A link to a moment plays on from there, and so does a list.
    if ((following || location.hash === "#play") && index < last && !still.matches) begin(1500);
  };

  // -- a match that is being played
  const AGAIN_MS = 3000, MOST_TRIES = 20; // a minute
  const live = (table) => {
    const root = document.getElementById("moment"), status = document.getElementById("live-status");
    let lines = null, number = -1, source = null, isOver = false, tries = 0, again = 0;
    const say = (text, isTrouble) => {
      if (status.textContent !== text) status.textContent = text;
      status.classList.toggle("bad", Boolean(isTrouble));
    };
    const open = () => {
      source = new EventSource(table.dataset.events);
      source.addEventListener("open", () => { tries = 0; });
      source.addEventListener("whole", (event) => {
        const told = JSON.parse(event.data);
        const moves = lines !== null;
        lines = told.lines;
        number = told.number;
        put(root, lines.join("\n"), moves ? 420 : 0);
        document.documentElement.dataset.moment = number;
        document.dispatchEvent(new Event("moment"));
      });
      source.addEventListener("step", (event) => {
        const told = JSON.parse(event.data);
        if (told.number !== number + 1) return; // it was in the whole
        lines = told.lines.flatMap((one) => (typeof one === "string" ? one : lines.slice(one[0], one[1])));
        number = told.number;
        put(root, lines.join("\n"), told.ms);
        document.documentElement.dataset.moment = number;
        document.dispatchEvent(new Event("moment"));
      });
      source.addEventListener("status", (event) => { const told = JSON.parse(event.data); say(told.text, told.trouble); });
      source.addEventListener("over", () => { isOver = true; source.close(); });
      source.onerror = () => {
        // Refused, which browsers leave at that: a proxy does so too while the page behind it is started again.
        const isRefused = source.readyState === EventSource.CLOSED;
        if (isRefused && ++tries > MOST_TRIES) { say(table.dataset.gone, true); return; }
        if (isRefused) again = setTimeout(open, AGAIN_MS);
        say(table.dataset.lost, true);
      };
    };
    open();
    addEventListener("pagehide", () => { clearTimeout(again); source.close(); });
    addEventListener("pageshow", (event) => { if (event.persisted && !isOver) open(); }); // by "back", as it was left
  };

  // What is open above the page closes by Escape or by a click beside it, or on a way out of it.
  const fold = (kept) => {
    for (const one of document.querySelectorAll(".rest[open], .menu[open]")) if (one !== kept) one.open = false;
  };
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    document.activeElement.closest(".menu[open]")?.querySelector("summary").focus();
    fold(null);
  });
  document.addEventListener("click", (event) => fold(event.target.closest("[data-go]") ? null : event.target.closest("details")));

  // A person's seat (seat.js) says what is shown and when.
  document.addEventListener("put", ({ detail }) => put(document.getElementById("moment"), detail.html, detail.ms));
  const player = document.getElementById("player"), table = document.getElementById("live");
  if (player) replay(player);
  if (table) live(table);
})();
