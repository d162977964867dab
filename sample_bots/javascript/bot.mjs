// A bot for Cutpurse in one file: all five games, without an SDK, from the .proto files alone.
//
//   CUTPURSE_SERVER             where to dial, 127.0.0.1:7777 if not set; https://host:port is with TLS
//   CUTPURSE_TOKEN              what lets it in, where a server asks for it
//   CUTPURSE_CA                 a file of certificates to trust the server by, the usual ones if not set
//   CUTPURSE_BOT                its name in the rankings, "node" if not set; CUTPURSE_VERSION its version, "1" if not set
//   CUTPURSE_LADDER             where it plays, GAME/LADDER, comma-separated; every ladder of every game if not set
//   CUTPURSE_PROTO              the folder that holds cutpurse/v1/*.proto, ./proto or ../../proto if not set
//   CUTPURSE_RECONNECT_TIMEOUT  seconds without a server until it exits; no limit if not set
//   CUTPURSE_TRUST              hosts besides the server's that it may be sent to, comma-separated; .example.org: all below it
//
// What of these makes no sense is told in a line: exit code 2, and 6 for a token. A server whose certificate is not trusted: 6.
// One that lets the bot in no more: 1.
//
// SIGTERM, Ctrl-C, or a terminal that is closed: it plays its open matches to the end and leaves. A second SIGTERM or Ctrl-C ends
// it at once. Of nohup Node knows nothing: setsid lets a bot stay when its terminal is closed.
import { randomBytes } from "node:crypto";
import { closeSync, existsSync, fstatSync, readFileSync } from "node:fs";
import { isIPv4, isIPv6 } from "node:net";
import { fileURLToPath } from "node:url";
import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";

process.noDeprecation = true; // grpc-js makes Node warn of a server's address that is a number, in lines of its own
const home = process.env.CUTPURSE_SERVER || "127.0.0.1:7777";
const { CUTPURSE_CA: authority } = process.env;
const token = process.env.CUTPURSE_TOKEN?.trim();
const name = process.env.CUTPURSE_BOT || "node";
const protos = process.env.CUTPURSE_PROTO
  || ["./proto", "../../proto"].map(path => fileURLToPath(new URL(path, import.meta.url))).find(path => existsSync(path));
const patience = 1_000 * (process.env.CUTPURSE_RECONNECT_TIMEOUT || Infinity);
const trusted = (process.env.CUTPURSE_TRUST ?? "").toLowerCase().split(",").map(host => host.trim()).filter(Boolean);
const TABLES = 16;
const HOME_MS = 10_000; // without a server until its ladders are looked for at others
const CATALOGUE_MS = 10_000;

// keepCase: names as in the files. arrays, objects: what is empty is [] or {}. A number that is 0 and was not sent is
// undefined, hence `?? 0` here and there; that is how "no seat" differs from seat 0.
const { ArenaService, GameService } = grpc.loadPackageDefinition(
  loader.loadSync(["cutpurse/v1/arena.proto", "cutpurse/v1/game.proto"], {
    includeDirs: [protos], keepCase: true, enums: String, arrays: true, objects: true,
  })).cutpurse.v1;

// As much of google.rpc as tells how long to wait, and where to dial instead: it lies in a status that the server gives.
const rpc = loader.fromJSON({ nested: {
  Status: { fields: { details: { rule: "repeated", type: "Detail", id: 3 } } },
  Detail: { fields: { type_url: { type: "string", id: 1 }, value: { type: "bytes", id: 2 } } },
  RetryInfo: { fields: { retry_delay: { type: "Delay", id: 1 } } },
  ErrorInfo: { fields: { reason: { type: "string", id: 1 }, metadata: { keyType: "string", type: "string", id: 3 } } },
  Delay: { fields: { seconds: { type: "int64", id: 1 }, nanos: { type: "int32", id: 2 } } },
} }, { keepCase: true, longs: Number, arrays: true });

// -- the part that thinks ------------------------------------------------------------------------------------------

// A decision with the numbers looked up in the catalogue: cards are the catalogue's own, zones have the name of their kind.
class Scene {
  constructor(decision, words, seat) {
    const seen = decision.observation;
    this.words = words;
    this.seat = seat;
    this.sides = seen.sides.map(side => side.zones.map(zone => this.named(zone)));
    this.middle = seen.zones.map(zone => this.named(zone));
    this.mine = this.sides[seat];
    this.counters = Object.fromEntries(words.seat_counters.map((counter, i) => [counter.name, seen.sides[seat].counters[i]]));
    this.zones = new Map([...this.middle, ...this.sides.flat()].map(zone => [zone.id, zone]));
  }

  named(zone) {
    const kind = this.words.zone_kinds[zone.kind - 1];
    const counters = Object.fromEntries(kind.counters.map((counter, i) => [counter.name, zone.counters[i]]));
    return { ...counters, id: zone.zone, name: kind.name, size: zone.size ?? 0, cards: this.cards(zone.cards) };
  }

  cards(numbers) { // 0, a card that lies face down, becomes undefined
    return numbers.map(number => this.words.cards[number - 1]);
  }

  pile(name, zones = this.mine) { // all cards of one's own zones of that name
    return zones.filter(zone => zone.name === name).flatMap(zone => zone.cards);
  }

  size(name, seat) {
    return this.sides[seat].filter(zone => zone.name === name).reduce((sum, zone) => sum + zone.size, 0);
  }
}

const sum = (cards, unseen = 0) => cards.reduce((total, card) => total + (card ? card.value ?? 0 : unseen), 0);
const like = (cards, card) => cards.filter(other => other && (other.value ?? 0) === (card.value ?? 0)).length;

// What an option promises, by game and verb, in the game's own unit. s: the scene; o: the option, o.cards and o.zone
// looked up. A verb that is not here is worth nothing, so anything of a positive price is preferred to it.
const openPack = (s, seat) => sum(s.sides[seat].filter(zone => zone.name === "pack").at(-1)?.cards ?? [], 150_000);
const fight = s => sum(s.pile("battle", s.middle), 150_000) + 300_000;

const PRICES = {
  steal_and_plunder: {
    form_pack: (s, o) => sum(o.cards) * 0.7,
    form_pack_discard: (s, o) => (sum(o.cards) + sum(s.pile("discard", s.middle).slice(-1))) * 0.7,
    discard: (s, o) => 50_000 - sum(o.cards),
    attack: (s, o) => openPack(s, o.seat) * 0.5 - sum(o.cards) * 0.4,
    power_steal: (s, o) => openPack(s, o.seat) * 0.7,
    power_plunder: (s, o) => openPack(s, o.seat),
    power_audit: (s, o) => 40_000 * s.size("hand", o.seat),
    contribute: (s, o) => fight(s) - sum(o.cards), // the cheapest that fits, if it is worth it
    take: (s, o) => sum(o.cards),
  },
  stolen_treasure: {
    draw: (s, o) => o.zone.name !== "piracy_pile" ? 70 : s.size("piracy_hand", s.seat) < 4 ? 50 : 1,
    bury: (s, o) => sum(o.cards),
    play: (s, o) => ({ plunder: 140, yo_ho_ho: 120 })[o.cards[0].name] ?? 0,
    play_on: (s, o) => ({ x_marks_the_spot: 150, hook: 80, skulduggery: 60 })[o.cards[0].name] ?? 0,
    take: (s, o) => sum(o.cards),
    give: (s, o) => 1_000 - sum(o.cards),
    discard: (s, o) => 1_000 - sum(o.cards),
    stake: (s, o) => 1_000 - sum(o.cards),
  },
  szmal: (() => {
    const PILES = { thug: "thugs", thugs: "thugs", holding: "holdings", holdings: "holdings", take_back: "holdings", hand_card: "hand" };
    const have = (s, what) => { // of a Cost or Need: cash, cards, or a symbol on the cards that lie before me
      if (what === "cash") return s.counters.cash;
      if (PILES[what]) return s.pile(PILES[what]).length;
      return [...s.pile("thugs"), ...s.pile("holdings")].reduce((n, card) => n + (card.traits[what] ?? 0), 0);
    };
    const bring = (s, o) => { // dollars in thousands: what it costs, its symbols, and 20 for the text on it
      const { sort, traits } = o.cards[0];
      let worth = 20;
      for (const [trait, n] of Object.entries(traits)) {
        const [, must, what] = /^(cost|need)_(.*)$/.exec(trait) ?? [];
        if (must && have(s, what) < n) return 0; // cannot be played
        if (must === "cost") worth -= what === "cash" ? n / 1_000 : 8;
        if (!must) worth += n * (10 + (sort === "holding" ? 10 + 10 * have(s, trait) : 0));
      }
      return worth;
    };
    return { pick: bring, choose: bring, play: bring, copy: () => 1, pay: () => 40, give_up: () => 30, put_markers: () => 1 };
  })(),
  greed: {
    play: (s, o) => 1 + like(s.pile("collection"), o.cards[0]) + like(s.pile("hand"), o.cards[0]) / 10,
    raid: (s, o) => 1 + s.size("hand", o.seat),
    go_on: s => 3 - new Set(s.pile("middle", s.middle).map(card => card?.value ?? 0)).size,
    look: () => 1,
    take: (s, o) => 1 + like(s.pile("collection"), o.cards[0]),
  },
  bag_o_loot: (() => { // coins with coins of their own number, looters only to finish a bag
    const isCoin = o => sum(o.cards) > 0;
    const have = (s, o) => like(s.pile("hand"), o.cards[0]);
    return {
      bag: (s, o) => sum(o.cards) === o.zone.number || !isCoin(o) ? 100 : 0,
      pinch: () => 90,
      build: (s, o) => isCoin(o) && o.zone.size + have(s, o) >= 5 ? 60 : 0,
      steal: (s, o) => isCoin(o) ? 10 * o.zone.size : 0,
      open: (s, o) => isCoin(o) ? 5 * (have(s, o) - 1) : 0,
      ditch: (s, o) => isCoin(o) ? 30 : 0,
      take_bag: () => 1,
    };
  })(),
};

// The position of the best option; of equal ones the safe one, which is what is taken for a bot that does not answer.
function choose(decision, game, words, seat) {
  const scene = new Scene(decision, words, seat);
  const prices = PRICES[game] ?? {};
  const price = option => prices[words.verbs[option.verb - 1].name]?.(scene, {
    cards: scene.cards(option.cards), zone: scene.zones.get(option.zone), seat: option.seat,
  }) ?? 0;
  let best = decision.safe_option ?? 0;
  let most = price(decision.options[best]);
  decision.options.forEach((option, i) => {
    const promised = price(option);
    if (promised > most) [best, most] = [i, promised];
  });
  return best;
}

// -- the part that every bot needs ---------------------------------------------------------------------------------

const arenas = new Set(); // the servers that it plays at: several where they share the ladders of a league
const refused = new Set(); // addresses that it does not dial
const catalogues = new Map(); // by digest: what the numbers of a game mean; fetched once
let leaving = false;

const say = text => console.error(`${name}: ${text}`);

function leave() {
  if (leaving) process.exit(130);
  leaving = true;
  if (![...arenas].some(arena => arena.isPlaying)) process.exit(0); // it sits nowhere
  for (const { stream, received } of arenas) stream?.write({ received, leaving });
}
process.on("SIGTERM", leave);
process.on("SIGINT", leave);
process.on("SIGHUP", () => leaving || leave()); // a shell and the system may both send it
// What can no longer be written is lost, and nothing else: Node would fail for it, and at the end for its closed terminal.
for (const talk of [process.stdout, process.stderr]) talk.on("error", () => {});
process.on("exit", () => [0, 1, 2].filter(fd => fstatSync(fd).isCharacterDevice()).forEach(fd => closeSync(fd)));

function catalogueOf(client, { catalogue_digest: digest, game, settings, seats }) {
  if (!catalogues.has(digest)) {
    catalogues.set(digest, new Promise((done, fail) => {
      const deadline = Date.now() + CATALOGUE_MS;
      client.games.GetGame({ game, settings, seats: seats.length }, { deadline }, (error, answer) => {
        if (!error) return done(answer.catalogue);
        catalogues.delete(digest); // asked again when the match is told again
        fail(error);
      });
    }));
  }
  return catalogues.get(digest);
}

function stop(code, text) {
  say(text);
  process.exit(code);
}

// The parts of an address: host:port, https://host:port or unix:/path. undefined for anything else: gRPC would read it as a URI,
// and so might dial another host than the one that is looked at here.
function parse(address) {
  const [, path] = /^unix:(?!\/\/)([^\0-\x1f\x7f?#%,]+)$/.exec(address) ?? [];
  if (path) return { target: address, isSecure: false, isLocal: true };
  const form = /^(https:\/\/)?((?:[\w-]{1,63}\.)*[\w-]{1,63}|\[([\da-fA-F:.]+)\]):([1-9]\d{0,4})$/;
  const [, tls, name, six, port] = form.exec(address) ?? [];
  if (!name || port > 65_535) return undefined;
  const host = (six ?? name).toLowerCase();
  const isNumber = /(^|\.)(\d+|0x[\da-f]*)$/.test(host); // 127.1 and 0x7f000001, too, are read as one of IPv4
  if (six ? !isIPv6(six) : host.length > 253 || (isNumber && !isIPv4(host))) return undefined;
  const isLocal = ["localhost", "::1"].includes(host) || (isNumber && host.startsWith("127."));
  return { host, target: `dns:///${name}:${port}`, isSecure: !!tls, isLocal };
}

const here = parse(home) ??
  stop(2, `CUTPURSE_SERVER "${home}" is no address: it is host:port, with TLS https://host:port, or unix:/path`);
const secure = here.isSecure;
if (token && !/^[!-~]+$/.test(token)) stop(6, "CUTPURSE_TOKEN holds no token"); // nothing that a header could hold
if (token && !secure && !here.isLocal) { // others could read it
  stop(6, `a token could be read on the way to ${home}; with TLS, its address is https://${home}`);
}
if (Number.isNaN(patience)) stop(2, `CUTPURSE_RECONNECT_TIMEOUT "${process.env.CUTPURSE_RECONNECT_TIMEOUT}" is not a number of seconds`);
const wanted = new Map(); // the games that it plays, each with its ladders; none: all
for (const one of process.env.CUTPURSE_LADDER?.match(/[^,]+/g) ?? []) {
  const [, game, ladder] = /^\s*([^/\s]+)\/([^/\s]+)\s*$/.exec(one)
    ?? stop(2, `CUTPURSE_LADDER "${one}" is no ladder: it is GAME/LADDER, such as greed/duel, several with commas between`);
  wanted.set(game, [...wanted.get(game) ?? [], ladder]);
}

let certificates = null; // the usual ones
try {
  if (secure && authority) certificates = readFileSync(authority);
} catch (error) {
  stop(2, `CUTPURSE_CA: ${error.message}`);
}
if (certificates && !certificates.includes("-----BEGIN CERTIFICATE-----")) stop(2, `CUTPURSE_CA ${authority}: it holds no certificate`);

// Why it does not dial an address that a server names; nothing, if it does. Whoever listens there gets the token.
function distrust(address) {
  const { host, isSecure, isLocal } = parse(address) ?? {};
  if (!host) return "what it names is no address of a server";
  const isOurs = host === here.host || trusted.some(name => host === name || (name.startsWith(".") && host.endsWith(name)));
  if (!isOurs) return `${address} would get the token; if that host is of the same league: CUTPURSE_TRUST=${host}`;
  const isRead = token && !secure && !isLocal;
  return secure === isSecure && !isRead ? "" : `${address} would get the token without TLS`;
}

// Play at another server of the league, too, unless that is done already.
function dialToo(ladder, address) {
  if (leaving || arenas.size >= TABLES || refused.has(address) || [...arenas].some(arena => arena.server === address)) return;
  const why = address === home ? "" : distrust(address);
  if (!why) return void new Arena(address).stay();
  refused.add(address);
  say(`does not play on ladder ${ladder}: ${why}`);
}

// How many tables it asks for at each server.
const share = () => Math.floor(TABLES / arenas.size);

// The bot at one server.
class Arena {
  tables = new Map(); // what MatchStarted said, by table
  session; // Welcome: what is needed to resume
  stream;
  received = 0; // the last envelope of this stream that was dealt with
  isIn = false; // something has come on this stream
  comeBack = 0; // milliseconds, if the server has said when
  share = 0; // tables that it has asked for

  constructor(server) {
    this.server = server;
    arenas.add(this);
  }

  get isPlaying() {
    return (this.stream && this.isIn) || this.tables.size > 0;
  }

  // One envelope from the server, one envelope back. Its lists are read in the order of their fields.
  async react(envelope, client) {
    const { tables } = this;
    const answer = { received: envelope.envelope, answers: [], give_ups: [], nonces: [] };
    if (envelope.welcome) {
      if (!envelope.welcome.resumed) tables.clear();
      this.session = envelope.welcome;
      say(`plays at ${this.server} (${this.session.server}), ${this.session.max_tables} tables`);
      for (const { ladder, address } of envelope.welcome.elsewhere) dialToo(ladder, address);
    }
    for (const refusal of envelope.refusals) {
      const { table, decision, reason, corrections_left } = refusal;
      if (reason === "REFUSAL_REASON_ILLEGAL" && corrections_left) {
        answer.answers.push({ table, decision, option: tables.get(table)?.safe ?? 0 });
      }
      if (!/STALE|ALREADY_DECIDED/.test(reason)) say(refusal.text);
    }
    for (const start of envelope.starts) {
      // Bytes that nobody can predict: with them the server could not choose the cards when it promised the deal.
      if (start.nonce_ms) answer.nonces.push({ table: start.table, nonce: randomBytes(32) });
      tables.set(start.table, { start, words: await catalogueOf(client, start) });
    }
    for (const asked of envelope.decisions) {
      const { table, decision } = asked;
      const { start, words } = tables.get(table);
      tables.get(table).safe = asked.safe_option ?? 0;
      try {
        const option = choose(asked, start.game, words, start.seat ?? 0);
        // Anything else would be sent as a number all the same, and that most often as 0.
        if (!Number.isInteger(option)) throw new TypeError(`choose returned ${String(option)}, which is no position`);
        answer.answers.push({ table, decision, option });
      } catch (error) { // the safe option is taken at once, which is better than to let time run out
        say(error.stack);
        answer.give_ups.push({ table, decision, reason: String(error) });
      }
    }
    for (const end of envelope.ends) {
      const { start } = tables.get(end.table) ?? {};
      tables.delete(end.table);
      if (!start) continue; // told once more after a resume
      const { place, score } = end.seats[start.seat ?? 0] ?? {};
      console.log(end.voided ? `${start.match} ${start.game} is void`
        : `${start.match} ${start.game} place ${place} of ${end.seats.length}, score ${score ?? 0}`);
    }
    if (envelope.drain) this.comeBack = envelope.drain.reconnect_after_ms ?? 0;
    for (const problem of envelope.problems) say(problem.text);
    if (this.share !== share()) answer.max_tables = this.share = share();
    this.received = envelope.envelope;
    return answer;
  }

  // One stream, from Hello to its end. Resolves to how it ended: a gRPC status.
  play() {
    const { createSsl, createInsecure } = grpc.credentials;
    const trust = secure ? createSsl(certificates) : createInsecure();
    const metadata = new grpc.Metadata();
    if (token) metadata.set("authorization", `Bearer ${token}`);
    const options = { "grpc.enable_http_proxy": 0 };
    const { target } = parse(this.server);
    const client = { games: new GameService(target, trust, options), arena: new ArenaService(target, trust, options) };
    return new Promise(ended => {
      const call = this.stream = client.arena.Play(metadata);
      [this.received, this.isIn, this.share] = [0, false, share()];
      let silence, queue = Promise.resolve();
      const heard = () => { // a server that says nothing for two heartbeats is lost
        clearTimeout(silence);
        silence = setTimeout(() => call.cancel(), 2 * (this.session?.heartbeat_ms ?? 15_000));
      };
      heard();
      call.on("data", envelope => {
        heard();
        this.isIn = true;
        queue = queue.then(() => this.react(envelope, client)).then(answer => call.write(answer))
          .catch(error => { say(error.message); call.cancel(); });
      });
      call.on("error", () => {}); // told as a status, too
      call.on("status", status => {
        clearTimeout(silence);
        this.stream = undefined;
        client.games.close();
        client.arena.close();
        ended(status);
      });
      call.write({ hello: {
        protocol_major: 1, sdk: "cutpurse-node-sample", bot: name, version: process.env.CUTPURSE_VERSION || "1", max_tables: this.share,
        features: ["nonces"], games: Array.from(wanted, ([game, ladders]) => ({ game, ladders })),
        resume: this.session && { session: this.session.session, secret: this.session.resume_secret },
      }, leaving });
    });
  }

  // Play; a stream that is lost is resumed, and a server that is away is waited for.
  async stay() {
    let trouble, away = Date.now();
    for (let wait = 500; ; wait = Math.min(2 * wait, 10_000)) {
      const status = await this.play();
      const { code, details } = status;
      const forgotten = code === NOT_FOUND && this.session;
      if (forgotten) this.forget(); // too late to resume: begin anew
      if (leaving && (code === OK || !this.tables.size)) return this.end(0);
      // All that grpc-js keeps of what is wrong with a certificate; an alert is the server's word about something else.
      const flaw = secure && code === UNAVAILABLE && !/alert/i.test(details)
        && /[^:]*certificate.*?(?=\. Resolution note|$)/i.exec(details)?.[0].trim();
      if (flaw) {
        return this.end(6, `the server at ${this.server} has a certificate that is not trusted here, or of another name (${flaw}); `
          + "if its operator gave you the certificate of who signed it, name the file in CUTPURSE_CA");
      }
      if (this.received) [wait, away] = [500, Date.now()]; // it had let the bot in
      const there = elsewhere(status);
      if (there) { // another server of the league has all of its ladders
        if ([...arenas].some(arena => arena !== this && arena.server === there)) return this.end(0);
        const why = there === home ? "" : distrust(there);
        if (why) return this.end(6, `the server at ${this.server} sends the bot elsewhere: ${why}`);
        say(`the server at ${this.server} sends the bot to ${there}`);
        this.dial(there);
        away = Date.now();
      } else if (!forgotten && ![OK, UNAVAILABLE, CANCELLED, INTERNAL, UNKNOWN, RESOURCE_EXHAUSTED].includes(code)) {
        // another version, or a newer stream of this name
        return this.end(1, `the server does not let this bot play: ${details}`);
      }
      const why = details || "the stream has ended";
      if (!there && why !== trouble) say(`away from ${this.server}: ${why}`);
      trouble = why;
      if (forgotten) { // by a server that is there: it waits for Hello
        wait = 250; // doubled above
        continue;
      }
      const pause = Math.max(wait, this.comeBack, retryMs(status)) * (1 + Math.random() / 2);
      if (Date.now() + pause > away + patience) return this.end(1, `no server at ${this.server}: ${why}`);
      if (Date.now() > away + HOME_MS) { // its ladders may be at another one by now
        if (arenas.size > 1) return this.end(1, `no server at ${this.server}`, true);
        if (this.server !== home) this.dial(home);
      }
      await new Promise(go => setTimeout(go, pause));
      this.comeBack = 0;
    }
  }

  forget() {
    this.session = undefined;
    this.tables.clear();
  }

  dial(server) {
    this.server = server;
    this.forget();
  }

  // Play here no more; the last one ends the program. Welcome tells another one where its ladders are.
  end(code, text, isLost = false) {
    if (text) say(text);
    arenas.delete(this);
    if (!arenas.size) process.exit(code);
    if (isLost) [...arenas].find(arena => arena.stream)?.stream.cancel();
    else if (code) refused.add(this.server);
  }
}

// What a status says besides its text, by the name of the message; undefined, if it says nothing of the kind.
function detail({ metadata }, kind) {
  const [bytes] = metadata.get("grpc-status-details-bin");
  const found = bytes && rpc.Status.deserialize(bytes).details.find(one => one.type_url.endsWith(`/google.rpc.${kind}`));
  return found && rpc[kind].deserialize(found.value);
}

// How many milliseconds the server says to wait, 0 if it does not.
function retryMs(status) {
  const { seconds, nanos } = detail(status, "RetryInfo")?.retry_delay ?? {};
  return 1_000 * (seconds ?? 0) + (nanos ?? 0) / 1e6;
}

// Where the server sends this bot, if another one of the league plays all of its ladders.
function elsewhere(status) {
  const info = detail(status, "ErrorInfo");
  return info?.reason === "ELSEWHERE" ? info.metadata?.address : undefined;
}

const { OK, NOT_FOUND, UNAVAILABLE, CANCELLED, INTERNAL, UNKNOWN, RESOURCE_EXHAUSTED } = grpc.status;
void new Arena(home).stay();
