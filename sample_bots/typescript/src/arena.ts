// The part that every bot needs: it connects to a server, sits at tables, has `choose` take each decision, comes back
// when a stream is lost, and leaves when it is told to. docs/reference/protocol.md tells what is said on the wire.
import { closeSync, fstatSync, readFileSync } from "node:fs";
import { connect, isIPv4, isIPv6 } from "node:net";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { create, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import * as arena from "../out/gen/cutpurse/v1/arena_pb.js";
import { type Catalogue, GameService } from "../out/gen/cutpurse/v1/game_pb.js";

/** A bot, as this file needs it. While `choose` thinks nothing else is done, so let it be quick. */
export interface Bot {
  /** In the rankings, unless CUTPURSE_BOT says otherwise. */
  name: string;
  /** A position in `decision.options`. If it throws, the safe option is taken, and that is a fault. */
  choose(decision: arena.Decision, catalogue: Catalogue, seat: number): number;
}

/** A seat of this bot at one match. */
interface Table {
  start: arena.MatchStarted;
  catalogue: Catalogue;
  /** The safe option of the last decision: what to answer when another answer was refused. */
  safe: number;
}

/** The parts of a server's address. */
interface Address {
  /** In lower case and without brackets; empty for a socket. */
  host: string;
  /** Of a socket. */
  path?: string;
  baseUrl: string;
  isSecure: boolean;
  isLocal: boolean;
}

const { env } = process;
const TABLES = 16;
const HEARTBEAT_MS = 15_000; // until the server has said how often it sends something
const CATALOGUE_MS = 10_000;
const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [500, 10_000]; // between two attempts to connect
const HOME_MS = 10_000; // without a server until its ladders are looked for at others
const HOME = env.CUTPURSE_SERVER || "127.0.0.1:7777"; // `https://host:port` is with TLS; or `unix:/path`
/** Other hosts that the bot may be sent to; ".example.org" is every host below example.org. */
const TRUSTED = (env.CUTPURSE_TRUST ?? "").toLowerCase().split(",").map((host) => host.trim()).filter((host) => host);

/** What does not get better by waiting: another version, a token that is not good, a newer stream of this bot. */
const FINAL = new Set([
  ...[Code.FailedPrecondition, Code.InvalidArgument, Code.Unauthenticated, Code.PermissionDenied],
  ...[Code.Aborted, Code.NotFound, Code.Unimplemented],
]);

/**
 * Play until told to leave: by SIGTERM, Ctrl-C, or a terminal that is closed. Of nohup Node knows nothing: setsid lets a
 * bot stay when its terminal is closed.
 */
export async function play(bot: Bot): Promise<never> {
  // What can no longer be written is lost, and nothing else: Node would fail for it, and at the end for its closed terminal.
  for (const talk of [process.stdout, process.stderr]) talk.on("error", () => {});
  process.on("exit", () => [0, 1, 2].filter((fd) => fstatSync(fd).isCharacterDevice()).forEach((fd) => closeSync(fd)));
  const player = new Player(bot);
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => Player.leave(signal));
  await player.stay();
  return new Promise(() => undefined); // until the last player ends
}

/** The bot at one server. There are several where several servers share the ladders of a league. */
class Player {
  static readonly #all = new Set<Player>();
  static readonly #refused = new Set<string>(); // addresses that are not dialled
  static readonly #catalogues = new Map<string, Catalogue>(); // by digest: each is fetched once
  static #leaving = false;
  readonly #bot: Bot;
  readonly #name: string;
  #server: string;
  readonly #reconnectTimeoutMs = 1_000 * Number(env.CUTPURSE_RECONNECT_TIMEOUT || Infinity); // without a server
  readonly #wanted = new Map<string, string[]>(); // the games that it plays, each with its ladders; none: all
  readonly #headers: Record<string, string> = {};
  #connection!: Http2SessionManager; // made when it is needed, and anew when it is lost
  #arena!: Client<typeof arena.ArenaService>;
  #games!: Client<typeof GameService>;
  readonly #tables = new Map<number, Table>();
  #session: arena.Welcome | undefined; // what is needed to resume
  #outgoing: PassThrough | undefined; // while there is a stream
  #received = 0; // the last envelope of this stream that was dealt with
  #isIn = false; // something has come on this stream
  #comeBackMs = 0; // if the server has said when
  #share = 0; // tables that it has asked for

  constructor(bot: Bot, server = HOME) {
    this.#bot = bot;
    this.#server = server;
    this.#name = env.CUTPURSE_BOT || bot.name;
    const token = env.CUTPURSE_TOKEN?.trim();
    const here = parse(this.#server);
    if (!here) {
      const forms = "it is host:port, with TLS https://host:port, or unix:/path";
      this.#stop(2, `CUTPURSE_SERVER "${this.#server}" is no address: ${forms}`);
    }
    // Nothing that a header could hold.
    if (token && !/^[!-~]+$/.test(token)) this.#stop(6, "CUTPURSE_TOKEN holds no token");
    if (Number.isNaN(this.#reconnectTimeoutMs)) {
      this.#stop(2, `CUTPURSE_RECONNECT_TIMEOUT "${env.CUTPURSE_RECONNECT_TIMEOUT}" is not a number of seconds`);
    }
    for (const one of env.CUTPURSE_LADDER?.match(/[^,]+/g) ?? []) {
      const [, game, ladder] = /^\s*([^/\s]+)\/([^/\s]+)\s*$/.exec(one) ?? [];
      if (!game || !ladder) {
        const form = "it is GAME/LADDER, such as greed/duel, several with commas between";
        this.#stop(2, `CUTPURSE_LADDER "${one}" is no ladder: ${form}`);
      }
      this.#wanted.set(game, [...(this.#wanted.get(game) ?? []), ladder]);
    }
    if (token && !here.isSecure && !here.isLocal) {
      const secure = `https://${this.#server}`;
      this.#stop(6, `a token could be read on the way to ${this.#server}; with TLS, its address is ${secure}`);
    }
    if (token) this.#headers.authorization = `Bearer ${token}`;
    this.#connect();
    Player.#all.add(this);
  }

  #connect(): void {
    const { path, baseUrl } = parse(this.#server)!; // it was looked at before
    this.#connection = new Http2SessionManager(baseUrl, undefined, {
      ...(path && { createConnection: () => connect(path) }),
      ...(env.CUTPURSE_CA && baseUrl.startsWith("https:") && { ca: this.#certificates(env.CUTPURSE_CA) }), // else the usual ones
    });
    const transport = createGrpcTransport({ baseUrl, sessionManager: this.#connection });
    this.#arena = createClient(arena.ArenaService, transport);
    this.#games = createClient(GameService, transport);
  }

  #certificates(file: string): Buffer {
    try {
      const pem = readFileSync(file);
      if (!pem.includes("-----BEGIN CERTIFICATE-----")) throw new Error(`${file} holds no certificate`);
      return pem;
    } catch (error) {
      return this.#stop(2, `CUTPURSE_CA: ${String(error)}`);
    }
  }

  /** Play; a stream that is lost is resumed, and a server that is away is waited for. */
  async stay(): Promise<void> {
    let awaySince = performance.now();
    let wait = FIRST_WAIT_MS;
    let said = "";
    for (;;) {
      const ended = await this.#stream();
      const isForgotten = ended?.code === Code.NotFound && this.#session !== undefined;
      if (isForgotten) {
        this.#session = undefined; // too late to resume: begin anew
        this.#tables.clear();
      }
      if (Player.#leaving && (!ended || !this.#tables.size)) return this.#end(0);
      if (this.#received) [awaySince, wait] = [performance.now(), FIRST_WAIT_MS]; // it had let the bot in
      const there = elsewhere(ended);
      const why = ended?.rawMessage || "the stream has ended";
      if (ended && isUntrusted(ended)) {
        const what = `has a certificate that is not trusted here, or of another name (${why})`;
        const hint = "if its operator gave you the certificate of who signed it, name the file in CUTPURSE_CA";
        return this.#end(6, `the server at ${this.#server} ${what}; ${hint}`);
      }
      const isFinal = ended && FINAL.has(ended.code) && ended.cause === undefined; // Connect calls a lost connection "aborted"
      if (there) { // another server of the league has all of its ladders
        if (there !== this.#server && Player.#isAt(there)) return this.#end(0);
        const problem = this.#distrust(there);
        if (problem) return this.#end(6, `the server at ${this.#server} sends the bot elsewhere: ${problem}`);
        this.#say(`the server at ${this.#server} sends the bot to ${there}`);
        this.#dial(there);
        awaySince = performance.now();
      } else if (!isForgotten && isFinal) {
        return this.#end(1, `the server does not let this bot play: ${why}`);
      }
      if (!there && why !== said) this.#say(`away from ${this.#server}: ${why}`);
      said = why;
      if (isForgotten) { // by a server that is there: it waits for Hello
        wait = FIRST_WAIT_MS;
        continue;
      }
      const pause = Math.max(wait, retryMs(ended), this.#comeBackMs) * (1 + Math.random() / 2);
      if (performance.now() + pause > awaySince + this.#reconnectTimeoutMs) {
        return this.#end(1, `no server at ${this.#server}: ${why}`);
      }
      if (performance.now() > awaySince + HOME_MS) { // its ladders may be at another one by now
        if (Player.#all.size > 1) return this.#end(1, `no server at ${this.#server}`, true);
        if (this.#server !== HOME) this.#dial(HOME);
      }
      await sleep(pause);
      wait = Math.min(2 * wait, LONGEST_WAIT_MS);
      this.#comeBackMs = 0;
    }
  }

  /** Play what is open to the end, then stop. Told twice: stop. */
  static leave(signal: string): void {
    if (Player.#leaving && signal === "SIGHUP") return; // a shell and the system may both send it
    if (Player.#leaving) process.exit(130);
    Player.#leaving = true;
    const all = [...Player.#all];
    if (!all.some((player) => (player.#outgoing && player.#isIn) || player.#tables.size)) process.exit(0); // it sits nowhere
    for (const player of all) player.#send({ received: player.#received, leaving: true });
  }

  static #isAt(server: string): boolean {
    return [...Player.#all].some((player) => player.#server === server);
  }

  /** How many tables it asks for at each server. */
  static get #tablesEach(): number {
    return Math.floor(TABLES / Player.#all.size);
  }

  /** Play at another server of the league, too, unless that is done already. */
  #dialToo({ ladder, address }: arena.LadderElsewhere): void {
    if (Player.#leaving || Player.#all.size >= TABLES || Player.#refused.has(address) || Player.#isAt(address)) return;
    const problem = this.#distrust(address);
    if (problem) {
      Player.#refused.add(address);
      this.#say(`does not play on ladder ${ladder}: ${problem}`);
    } else {
      void new Player(this.#bot, address).stay();
    }
  }

  /** Why an address that a server names is not dialled; empty, if it is. What listens there gets the token. */
  #distrust(address: string): string {
    const [there, home] = [parse(address), parse(HOME)];
    if (address === HOME) return "";
    if (!there?.host || !home) return "what it names is no address of a server";
    const { host } = there;
    if (host !== home.host && !TRUSTED.some((name) => host === name || (name.startsWith(".") && host.endsWith(name)))) {
      return `${address} would get the token; if that host is of the same league: CUTPURSE_TRUST=${host}`;
    }
    const isRead = this.#headers.authorization && !there.isSecure && !there.isLocal;
    return isRead || there.isSecure !== home.isSecure ? `${address} would get the token without TLS` : "";
  }

  #dial(server: string): void {
    this.#server = server;
    this.#session = undefined;
    this.#tables.clear();
    this.#connection.abort();
    this.#connect();
  }

  /** Play here no more; the last one ends the program. Welcome tells another one where the ladders are. */
  #end(code: number, text = "", isLost = false): void {
    if (text) this.#say(text);
    Player.#all.delete(this);
    this.#connection.abort();
    if (!Player.#all.size) process.exit(code);
    if (code && !isLost) Player.#refused.add(this.#server);
    const other = [...Player.#all].find((player) => player.#outgoing);
    if (isLost && other) other.#connection.abort();
  }

  /** One stream, from Hello to its end: the error that ended it, if it was one. */
  async #stream(): Promise<ConnectError | undefined> {
    const end = new AbortController();
    const lost = (): void => {
      end.abort(new ConnectError("the server was silent for too long", Code.Unavailable));
      this.#connection.abort();
    };
    const watch = (): NodeJS.Timeout => setTimeout(lost, 2 * (this.#session?.heartbeatMs ?? HEARTBEAT_MS));
    let silence = watch();
    const outgoing = (this.#outgoing = new PassThrough({ objectMode: true }));
    [this.#received, this.#isIn, this.#share] = [0, false, Player.#tablesEach];
    this.#send({ hello: this.#hello(), leaving: Player.#leaving });
    try {
      for await (const envelope of this.#arena.play(outgoing, { headers: this.#headers, signal: end.signal })) {
        clearTimeout(silence);
        silence = watch();
        this.#isIn = true;
        this.#send(await this.#react(envelope));
        this.#received = envelope.envelope;
      }
      return undefined;
    } catch (error) {
      return ConnectError.from(end.signal.aborted ? end.signal.reason : error);
    } finally {
      clearTimeout(silence);
      this.#outgoing = undefined;
      outgoing.destroy();
      end.abort();
    }
  }

  #send(request: MessageInitShape<typeof arena.PlayRequestSchema>): void {
    if (this.#outgoing?.writable) this.#outgoing.write(request);
  }

  #hello(): arena.Hello {
    return create(arena.HelloSchema, {
      protocolMajor: 1,
      sdk: "cutpurse-typescript-sample",
      bot: this.#name,
      version: env.CUTPURSE_VERSION || "1",
      maxTables: this.#share,
      games: Array.from(this.#wanted, ([game, ladders]) => ({ game, ladders })),
      ...(this.#session && { resume: { session: this.#session.session, secret: this.#session.resumeSecret } }),
    });
  }

  /** One envelope from the server, one envelope back. Its lists are read in the order of their fields. */
  async #react(envelope: arena.PlayResponse): Promise<arena.PlayRequest> {
    const answer = create(arena.PlayRequestSchema, { received: envelope.envelope });
    const takes = (table: number, decision: number, option: number): void =>
      void answer.answers.push(create(arena.AnswerSchema, { table, decision, option }));
    if (envelope.welcome) {
      this.#session = envelope.welcome;
      if (!envelope.welcome.resumed) this.#tables.clear();
      this.#say(`plays at ${this.#server} (${envelope.welcome.server}), ${envelope.welcome.maxTables} tables`);
      for (const other of envelope.welcome.elsewhere) this.#dialToo(other);
    }
    for (const { table, decision, reason, correctionsLeft, text } of envelope.refusals) {
      if (reason === arena.RefusalReason.ILLEGAL && correctionsLeft) {
        takes(table, decision, this.#tables.get(table)?.safe ?? 0);
      }
      if (reason !== arena.RefusalReason.STALE && reason !== arena.RefusalReason.ALREADY_DECIDED) this.#say(text);
    }
    for (const start of envelope.starts) {
      this.#tables.set(start.table, { start, catalogue: await this.#catalogueOf(start), safe: 0 });
    }
    for (const asked of envelope.decisions) {
      const { table, decision } = asked;
      try {
        takes(table, decision, this.#choose(asked));
      } catch (error) {
        // The safe option is taken at once, which is better than to let time run out.
        this.#say(error instanceof Error && error.stack ? error.stack : String(error));
        answer.giveUps.push(create(arena.GiveUpSchema, { table, decision, reason: String(error) }));
      }
    }
    for (const { table, seats, voided } of envelope.ends) {
      const start = this.#tables.get(table)?.start;
      this.#tables.delete(table);
      if (!start) continue; // told once more after a resume
      const { place, score } = seats[start.seat] ?? {};
      const result = voided ? "is void" : `place ${place} of ${seats.length}, score ${score}`;
      console.log(`${start.match} ${start.game} ${result}`);
    }
    if (envelope.drain) this.#comeBackMs = envelope.drain.reconnectAfterMs;
    for (const problem of envelope.problems) this.#say(problem.text);
    if (this.#share !== Player.#tablesEach) answer.maxTables = this.#share = Player.#tablesEach;
    return answer;
  }

  #choose(asked: arena.Decision): number {
    const table = this.#tables.get(asked.table);
    if (!table) throw new Error(`there is no table ${asked.table}`);
    table.safe = asked.safeOption;
    const option = this.#bot.choose(asked, table.catalogue, table.start.seat);
    if (!(option in asked.options)) throw new RangeError(`${option} is none of the ${asked.options.length} options`);
    return option;
  }

  async #catalogueOf({ game, settings, seats, catalogueDigest }: arena.MatchStarted): Promise<Catalogue> {
    const known = Player.#catalogues.get(catalogueDigest);
    if (known) return known;
    try {
      const asked = { game, settings, seats: seats.length };
      const { catalogue } = await this.#games.getGame(asked, { headers: this.#headers, timeoutMs: CATALOGUE_MS });
      if (!catalogue) throw new Error("it is empty");
      Player.#catalogues.set(catalogueDigest, catalogue);
      return catalogue;
    } catch (error) {
      // The stream ends with it, and on the next one the match is told again.
      throw new ConnectError(`no catalogue of ${game}: ${ConnectError.from(error).rawMessage}`, Code.Unavailable);
    }
  }

  #say(text: string): void {
    console.error(`${this.#name}: ${text}`);
  }

  #stop(code: number, text: string): never {
    this.#say(text);
    process.exit(code);
  }
}

/** Whether who listens there has shown a certificate that is not trusted. An alert is the server's word about something else. */
function isUntrusted({ cause, rawMessage }: ConnectError): boolean {
  return cause !== undefined && /certificate/i.test(rawMessage) && !/alert/i.test(rawMessage);
}

/**
 * The parts of an address: host:port, https://host:port or unix:/path. undefined for anything else: a URL may be dialled
 * at another host than the one that is looked at here.
 */
function parse(address: string): Address | undefined {
  const path = /^unix:(?!\/\/)([^\0-\x1f\x7f?#%,]+)$/.exec(address)?.[1];
  if (path) return { path, host: "", baseUrl: "http://localhost", isSecure: false, isLocal: true };
  const form = /^(https:\/\/)?((?:[\w-]{1,63}\.)*[\w-]{1,63}|\[([\da-fA-F:.]+)\]):([1-9]\d{0,4})$/;
  const [, tls, name, six, port] = form.exec(address) ?? [];
  if (!name || Number(port) > 65_535) return undefined;
  const host = (six ?? name).toLowerCase();
  const isNumber = /(^|\.)(\d+|0x[\da-f]*)$/.test(host); // 127.1 and 0x7f000001, too, are read as one of IPv4
  if (six ? !isIPv6(six) : host.length > 253 || (isNumber && !isIPv4(host))) return undefined;
  const isLocal = ["localhost", "::1"].includes(host) || (isNumber && host.startsWith("127."));
  return { host, baseUrl: `${tls ?? "http://"}${name}:${port}`, isSecure: tls !== undefined, isLocal };
}

/** Of a status the message of google.rpc with this name; undefined, if there is none. */
function detail(ended: ConnectError | undefined, name: string): BinaryReader | undefined {
  for (const one of ended?.details ?? []) {
    if ("type" in one && one.type === `google.rpc.${name}`) return new BinaryReader(one.value);
  }
  return undefined;
}

/** How long the server wants this bot to stay away: google.rpc.RetryInfo, whose only field is a Duration; 0: it does not say. */
function retryMs(ended: ConnectError | undefined): number {
  const reader = detail(ended, "RetryInfo");
  if (!reader) return 0;
  reader.tag();
  const { seconds, nanos } = fromBinary(DurationSchema, reader.bytes());
  return Number(seconds) * 1e3 + nanos / 1e6;
}

/** Where the server sends this bot, if another one plays all of its ladders: "address" in google.rpc.ErrorInfo. */
function elsewhere(ended: ConnectError | undefined): string | undefined {
  const fields = (reader: BinaryReader): [number, Uint8Array][] => {
    const read: [number, Uint8Array][] = [];
    while (reader.pos < reader.len) read.push([reader.tag()[0], reader.bytes()]);
    return read;
  };
  const reader = detail(ended, "ErrorInfo");
  const text = new TextDecoder();
  const info = reader ? fields(reader) : []; // 1: reason; 3: an entry of the metadata, of key and value
  if (!info.some(([number, value]) => number === 1 && text.decode(value) === "ELSEWHERE")) return undefined;
  const entries = info.filter(([number]) => number === 3).map(([, entry]) => fields(new BinaryReader(entry)).map(([, value]) => text.decode(value)));
  return entries.find(([key]) => key === "address")?.[1];
}
