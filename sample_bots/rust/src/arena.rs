//! The part that every bot needs: it connects, says Hello, answers each envelope with one, comes back when the stream is
//! lost, and leaves. docs/reference/protocol.md tells the conversation, arena.proto each message of it.
//!
//! | | |
//! |---|---|
//! | `CUTPURSE_SERVER` | where to dial, 127.0.0.1:7777 if not set; https://host:port is with TLS, unix:/path a socket |
//! | `CUTPURSE_TOKEN` | what lets it in, where a server asks for it |
//! | `CUTPURSE_CA` | a file of certificates to trust the server by, the system's if not set |
//! | `CUTPURSE_BOT` | its name in the rankings |
//! | `CUTPURSE_VERSION` | its version there, 1 if not set |
//! | `CUTPURSE_LADDER` | where it plays, GAME/LADDER, several with commas between; every ladder of every game if not set |
//! | `CUTPURSE_RECONNECT_TIMEOUT` | seconds without a server until it exits; no limit if not set |
//! | `CUTPURSE_TRUST` | hosts besides the server's that it may be sent to, with commas; .example.org: all below it |
//!
//! What of these makes no sense is told in a line: exit code 2, and 6 for a token. A server whose certificate is not
//! trusted: 6. One that lets the bot in no more: 1.
//!
//! SIGTERM, Ctrl-C, or a terminal that is closed: it plays its open matches to the end and leaves. A second SIGTERM or
//! Ctrl-C ends it at once. Under nohup a terminal may be closed.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::env;
use std::io::Write;
use std::panic::{self, catch_unwind, AssertUnwindSafe};
use std::process::{self, ExitCode};
use std::rc::Rc;
use std::time::{Duration, Instant};
use std::{fs, hash, io, thread};

use tokio::runtime::{Builder, Runtime};
use tokio::select;
use tokio::signal::unix::{signal, SignalKind};
use tokio::sync::{watch, Notify};
use tokio::task::{spawn_local, LocalSet};
use tokio::time::{sleep, timeout};

use crate::grpc::{code, Address, Channel, Receiver, Sender, Status};
use crate::v1::*;

/// Given a decision, the catalogue that explains its numbers, and the bot's seat: the position in `decision.options`.
pub type Chooser = fn(&Decision, &Catalogue, usize) -> usize;

const TABLES: u32 = 16;
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(10);
const HOME_AFTER: Duration = Duration::from_secs(10); // without a server until its ladders are looked for at others
const PATIENCE: Duration = Duration::from_secs(10); // for a connection, and for a catalogue
const USUAL_HEARTBEAT_MS: u32 = 15_000; // until Welcome names another
const LEFT: u8 = 0;
const FAILED: u8 = 1;
const USAGE: u8 = 2;
const NO_TRUST: u8 = 6;
const INTERRUPTED: u8 = 130;

/// Plays until it is told to leave; `name` is the bot's, where CUTPURSE_BOT says no other.
pub fn run(name: &str, choose: Chooser) -> ExitCode {
    let name = variable("CUTPURSE_BOT").unwrap_or_else(|| name.to_owned());
    let told = match told() {
        Ok(told) => told,
        Err((exit_code, problem)) => {
            _ = writeln!(io::stderr(), "{name}: {problem}"); // eprintln would panic where nobody can read it
            return exit_code.into();
        }
    };
    let whose = name.clone();
    panic::set_hook(Box::new(move |panicked| {
        _ = writeln!(io::stderr(), "{whose}: {}", panicked.to_string().replace('\n', " "));
    }));
    let leaving = signals().expect("signals can be waited for");
    let bot = Rc::new(Bot {
        choose,
        name,
        told,
        leaving,
        arenas: RefCell::default(),
        refused: RefCell::default(),
        next: Cell::new(0),
        exit_code: Cell::new(LEFT),
        ended: Notify::new(),
    });
    let all = LocalSet::new();
    let played = all.run_until(async {
        bot.play_at(&bot.told.server);
        while !bot.arenas.borrow().is_empty() {
            bot.ended.notified().await;
        }
    });
    runtime().expect("threads can be started").block_on(played);
    bot.exit_code.get().into()
}

/// What the environment says.
struct Told {
    server: String,
    here: Address, // of the server
    token: Option<String>,
    certificates: Option<String>, // in PEM
    trusted: Vec<String>,         // other hosts that it may be sent to
    games: Vec<GameWanted>,       // with their ladders; none: all
    patience: f64,                // seconds without a server
}

/// What the environment says; of what makes no sense the exit code, and a line.
fn told() -> Result<Told, (u8, String)> {
    let server = variable("CUTPURSE_SERVER").unwrap_or_else(|| "127.0.0.1:7777".to_owned());
    let here = Address::parse(&server).ok_or_else(|| {
        let forms = "it is host:port, with TLS https://host:port, or unix:/path";
        (USAGE, format!("CUTPURSE_SERVER {server:?} is no address: {forms}"))
    })?;
    let token = variable("CUTPURSE_TOKEN").map(|token| token.trim().to_owned()).filter(|token| !token.is_empty());
    if token.iter().any(|token| !token.bytes().all(|sign| sign.is_ascii_graphic())) {
        return Err((NO_TRUST, "CUTPURSE_TOKEN holds no token".to_owned()));
    }
    if token.is_some() && !here.is_secure() && !here.is_local() {
        let why = format!("a token could be read on the way to {server}; with TLS, its address is https://{server}");
        return Err((NO_TRUST, why));
    }
    let seconds = variable("CUTPURSE_RECONNECT_TIMEOUT").unwrap_or_else(|| "inf".to_owned());
    let patience = match seconds.parse::<f64>() {
        Ok(patience) if !patience.is_nan() => patience,
        _ => return Err((USAGE, format!("CUTPURSE_RECONNECT_TIMEOUT {seconds:?} is not a number of seconds"))),
    };
    let mut certificates = None;
    if let Some(file) = variable("CUTPURSE_CA").filter(|_| here.is_secure()) {
        match fs::read_to_string(&file) {
            Ok(pem) if pem.contains("-----BEGIN CERTIFICATE-----") => certificates = Some(pem),
            Ok(_) => return Err((USAGE, format!("CUTPURSE_CA {file}: there is no certificate in it"))),
            Err(problem) => return Err((USAGE, format!("CUTPURSE_CA {file}: {problem}"))),
        }
    }
    let games = games_wanted(&variable("CUTPURSE_LADDER").unwrap_or_default()).map_err(|problem| (USAGE, problem))?;
    let hosts = variable("CUTPURSE_TRUST").unwrap_or_default().to_lowercase();
    let trusted = hosts.split(',').map(|host| host.trim().to_owned()).filter(|host| !host.is_empty()).collect();
    Ok(Told { server, here, token, certificates, trusted, games, patience })
}

/// Of GAME/LADDER,GAME/LADDER what Hello says: each game once, with its ladders.
fn games_wanted(ladders: &str) -> Result<Vec<GameWanted>, String> {
    let mut games: Vec<GameWanted> = vec![];
    for one in ladders.split(',').filter(|one| !one.is_empty()) {
        let parts: Vec<&str> = one.trim().split('/').collect();
        let are_names = parts.iter().all(|name| !name.is_empty() && !name.contains(char::is_whitespace));
        let (game, ladder) = match parts[..] {
            [game, ladder] if are_names => (game.to_owned(), ladder.to_owned()),
            _ => {
                let form = "it is GAME/LADDER, such as greed/duel, several with commas between";
                return Err(format!("CUTPURSE_LADDER {one:?} is no ladder: {form}"));
            }
        };
        match games.iter_mut().find(|wanted| wanted.game == game) {
            Some(wanted) => wanted.ladders.push(ladder),
            None => games.push(GameWanted { game, ladders: vec![ladder], ..Default::default() }),
        }
    }
    Ok(games)
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// Becomes true at the first SIGTERM, SIGINT or SIGHUP; a second one ends the program, but for SIGHUP, which a shell and
/// the system may both send. They are waited for in a thread of their own, so that the second one is heard also while the
/// bot thinks.
fn signals() -> io::Result<watch::Receiver<bool>> {
    let (tell, told) = watch::channel(false);
    let runtime = runtime()?;
    let within = runtime.enter();
    let mut terminated = signal(SignalKind::terminate())?;
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut hung_up = if ignores_hangup() { None } else { Some(signal(SignalKind::hangup())?) };
    drop(within);
    thread::spawn(move || {
        runtime.block_on(async {
            loop {
                select! {
                    _ = terminated.recv() => {}
                    _ = interrupted.recv() => {}
                    Some(()) = async { hung_up.as_mut()?.recv().await } => if *tell.borrow() { continue },
                }
                if tell.send_replace(true) {
                    process::exit(INTERRUPTED.into());
                }
            }
        });
    });
    Ok(told)
}

/// Whether SIGHUP, signal 1, has been ignored since the program began, as under nohup: Linux tells.
fn ignores_hangup() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|signals| u64::from_str_radix(signals.trim(), 16).ok()).map_or(false, |signals| signals & 1 == 1)
}

/// A number from 0 to 1: a hasher is made with chance.
fn chance() -> f64 {
    let hasher = hash::BuildHasher::build_hasher(&std::collections::hash_map::RandomState::new());
    hash::Hasher::finish(&hasher) as f64 / u64::MAX as f64
}

/// A match that is being played.
struct Table {
    start: MatchStarted,
    words: Rc<Catalogue>,
    safe_option: u32, // of the open decision
}

/// What the bot is at all servers, which are several where they share the ladders of a league. All of them are in one
/// thread, so `choose` has one decision at a time.
struct Bot {
    choose: Chooser,
    name: String,
    told: Told,
    leaving: watch::Receiver<bool>,
    arenas: RefCell<HashMap<u64, Entry>>, // by a number of each
    refused: RefCell<HashSet<String>>,    // addresses that it does not dial
    next: Cell<u64>,
    exit_code: Cell<u8>, // of the one that ended last
    ended: Notify,
}

/// What the others know of the bot at one server.
struct Entry {
    server: String,
    ask_anew: Rc<Notify>,
    is_in: bool,
}

impl Bot {
    fn say(&self, text: impl std::fmt::Display) {
        _ = writeln!(io::stderr(), "{}: {text}", self.name);
    }

    /// How many tables it asks for at each server.
    fn tables_each(&self) -> u32 {
        TABLES / self.arenas.borrow().len().max(1) as u32
    }

    /// Whether it plays at this server, besides what has this number.
    fn is_at(&self, server: &str, but: Option<u64>) -> bool {
        self.arenas.borrow().iter().any(|(number, entry)| Some(*number) != but && entry.server == server)
    }

    /// Why it does not dial an address that a server names; nothing, if it does. What listens there gets the token.
    fn distrust(&self, server: &str) -> Option<String> {
        let home = &self.told.server;
        if server == home {
            return None;
        }
        let there = match Address::parse(server) {
            Some(there @ Address::Tcp { .. }) => there,
            _ => return Some("what it names is no address of a server".to_owned()),
        };
        let host = there.host();
        let is_named = |name: &String| host == name || (name.starts_with('.') && host.ends_with(name.as_str()));
        if host != self.told.here.host() && !self.told.trusted.iter().any(is_named) {
            let hint = format!("if that host is of the same league: CUTPURSE_TRUST={host}");
            return Some(format!("{server} would get the token; {hint}"));
        }
        let is_read = self.told.token.is_some() && !there.is_secure() && !there.is_local();
        (is_read || there.is_secure() != self.told.here.is_secure())
            .then(|| format!("{server} would get the token without TLS"))
    }

    /// Plays at a server, beside the others.
    fn play_at(self: &Rc<Self>, server: &str) {
        let number = self.next.replace(self.next.get() + 1);
        let mut arena = Arena::new(self.clone(), number, server);
        let entry = Entry { server: server.to_owned(), ask_anew: arena.ask_anew.clone(), is_in: false };
        self.arenas.borrow_mut().insert(number, entry);
        spawn_local(async move {
            let (code, is_lost) = arena.stay_connected().await;
            arena.bot.clone().left(arena, code, is_lost);
        });
    }

    /// Plays on the ladders of another server, too, unless that is done already.
    fn dial_too(self: &Rc<Self>, there: &LadderElsewhere) {
        let is_full = self.arenas.borrow().len() >= TABLES as usize;
        let server = &there.address;
        if *self.leaving.borrow() || is_full || self.refused.borrow().contains(server) || self.is_at(server, None) {
            return;
        }
        match self.distrust(server) {
            None => self.play_at(server),
            Some(why) => {
                self.say(format_args!("does not play on ladder {}: {why}", there.ladder));
                self.refused.borrow_mut().insert(server.clone());
            }
        }
    }

    /// Leaves a server. Where that one is lost, the Welcome of another tells where its ladders are.
    fn left(&self, arena: Arena, code: u8, is_lost: bool) {
        self.arenas.borrow_mut().remove(&arena.number);
        self.exit_code.set(code);
        if is_lost {
            self.arenas
                .borrow()
                .values()
                .filter(|entry| entry.is_in)
                .take(1)
                .for_each(|entry| entry.ask_anew.notify_one());
        } else if code != LEFT {
            self.refused.borrow_mut().insert(arena.server);
        }
        self.ended.notify_one();
    }
}

/// The bot at one server.
struct Arena {
    bot: Rc<Bot>,
    number: u64,
    server: String,
    ask_anew: Rc<Notify>, // on another stream, for another Welcome
    leaving: watch::Receiver<bool>,
    session: Option<Welcome>, // what is needed to resume
    tables: HashMap<u32, Table>,
    catalogues: HashMap<String, Rc<Catalogue>>, // by digest; each is fetched once
    received: u32,                              // the last envelope of this stream that was dealt with
    share: u32,                                 // tables that it has asked for
    come_back: Duration,                        // how long the server has said to wait
}

impl Arena {
    fn new(bot: Rc<Bot>, number: u64, server: &str) -> Self {
        Arena {
            leaving: bot.leaving.clone(),
            bot,
            number,
            server: server.to_owned(),
            ask_anew: Rc::default(),
            session: None,
            tables: HashMap::new(),
            catalogues: HashMap::new(),
            received: 0,
            share: 0,
            come_back: Duration::ZERO,
        }
    }

    fn say(&self, text: impl std::fmt::Display) {
        self.bot.say(text);
    }

    fn is_leaving(&self) -> bool {
        *self.leaving.borrow()
    }

    /// Plays at another server from now on.
    fn dial(&mut self, server: &str) {
        self.server = server.to_owned();
        self.session = None;
        self.tables.clear();
        if let Some(entry) = self.bot.arenas.borrow_mut().get_mut(&self.number) {
            entry.server = server.to_owned();
        }
    }

    /// Plays; a stream that is lost is resumed, and a server that is away is waited for. The exit code, and whether the
    /// server is lost while others are there.
    async fn stay_connected(&mut self) -> (u8, bool) {
        let mut away_since = Instant::now();
        let mut backoff = FIRST_WAIT;
        let mut trouble = String::new();
        loop {
            self.received = 0;
            let ended = match self.play().await {
                Err(status) => status,
                Ok(never) => match never {},
            };
            let is_forgotten = ended.code == code::NOT_FOUND && self.session.is_some();
            if is_forgotten {
                // too late to resume: begin anew
                self.session = None;
                self.tables.clear();
            }
            if self.is_leaving() && (ended.code == code::OK || self.tables.is_empty()) {
                return (LEFT, false);
            }
            if is_untrusted(&ended) {
                self.say(format_args!(
                    "the server at {} has a certificate that is not trusted here, or of another name ({}); \
                     if its operator gave you the certificate of who signed it, name the file in CUTPURSE_CA",
                    self.server, ended.message
                ));
                return (NO_TRUST, false);
            }
            if self.received > 0 {
                // the server had let the bot in
                backoff = FIRST_WAIT;
                away_since = Instant::now();
            }
            let there = match ended.info.reason.as_str() {
                "ELSEWHERE" => ended.info.metadata.get("address").cloned(),
                _ => None,
            };
            match ended.code {
                _ if there.is_some() => {}
                code::OK | code::UNAVAILABLE | code::CANCELLED => {}
                code::INTERNAL | code::UNKNOWN | code::RESOURCE_EXHAUSTED => {}
                code::NOT_FOUND if is_forgotten => {}
                _ => {
                    // another version, no good token, or a newer stream of this name: waiting does not help
                    self.say(format_args!("the server does not let this bot play: {}", ended.message));
                    return (FAILED, false);
                }
            }
            let why = if ended.code == code::OK { "the stream has ended".to_owned() } else { ended.message };
            if let Some(there) = &there {
                // another server of the league has all of its ladders
                if self.bot.is_at(there, Some(self.number)) {
                    return (LEFT, false);
                }
                if let Some(why) = self.bot.distrust(there) {
                    self.say(format_args!("the server at {} sends the bot elsewhere: {why}", self.server));
                    return (NO_TRUST, false);
                }
                self.say(format_args!("the server at {} sends the bot to {there}", self.server));
                self.dial(there);
                away_since = Instant::now();
            } else if why != trouble {
                self.say(format_args!("away from {}: {why}", self.server));
                trouble = why;
            }
            if is_forgotten {
                // by a server that is there: it waits for Hello
                backoff = FIRST_WAIT;
                continue;
            }
            // Longer each time, and with chance in it, so that not all bots come back at once.
            let least = ended.retry_after.unwrap_or_default().max(std::mem::take(&mut self.come_back));
            let wait = backoff.max(least).mul_f64(1.0 + chance() / 2.0);
            backoff = LONGEST_WAIT.min(2 * backoff);
            if (away_since.elapsed() + wait).as_secs_f64() > self.bot.told.patience {
                self.say(format_args!("no server at {} for too long", self.server));
                return (FAILED, false);
            }
            if away_since.elapsed() > HOME_AFTER {
                // its ladders may be at another one by now
                if self.bot.arenas.borrow().len() > 1 {
                    self.say(format_args!("no server at {}", self.server));
                    return (FAILED, true);
                }
                let home = self.bot.told.server.clone();
                if self.server != home {
                    self.dial(&home);
                }
            }
            select! {
                _ = sleep(wait) => {}
                _ = self.leaving.changed(), if self.tables.is_empty() => return (LEFT, false),
            }
        }
    }

    /// One stream, from Hello to its end.
    async fn play(&mut self) -> Result<Infallible, Status> {
        let bot = self.bot.clone();
        let told = &bot.told;
        let dialled = Channel::connect(&self.server, told.token.as_deref(), told.certificates.as_deref());
        let left = || Status::new(code::OK, "it sits nowhere");
        let channel = select! {
            channel = timeout(PATIENCE, dialled) => channel.map_err(|_| silent())??,
            _ = self.leaving.changed(), if self.session.is_none() => return Err(left()),
        };
        let (mut sender, mut receiver): (Sender<PlayRequest>, Receiver<PlayResponse>) =
            channel.stream("/cutpurse.v1.ArenaService/Play").await?;
        self.share = self.bot.tables_each();
        sender.send(&self.hello());
        loop {
            let heartbeat_ms = self.session.as_ref().map_or(USUAL_HEARTBEAT_MS, |session| session.heartbeat_ms);
            let patience = 2 * Duration::from_millis(heartbeat_ms.into());
            select! {
                envelope = timeout(patience, receiver.message()) => {
                    let answer = self.react(&envelope.map_err(|_| silent())??, &channel).await?;
                    sender.send(&answer);
                }
                _ = self.ask_anew.notified() => {
                    return Err(Status::new(code::CANCELLED, "asks for its ladders anew"));
                }
                _ = self.leaving.changed() => match self.session {
                    None => return Err(left()),
                    Some(_) => sender.send(&self.acknowledgement()),
                },
            }
        }
    }

    /// An envelope that says what every one says.
    fn acknowledgement(&self) -> PlayRequest {
        PlayRequest { received: self.received, leaving: self.is_leaving(), ..Default::default() }
    }

    fn hello(&self) -> PlayRequest {
        let resume =
            |session: &Welcome| Resume { session: session.session.clone(), secret: session.resume_secret.clone() };
        let hello = Hello {
            protocol_major: 1,
            sdk: "cutpurse-rust-sample".to_owned(),
            bot: self.bot.name.clone(),
            version: variable("CUTPURSE_VERSION").unwrap_or_else(|| "1".to_owned()),
            max_tables: self.share,
            games: self.bot.told.games.clone(),
            resume: self.session.as_ref().map(resume),
            ..Default::default()
        };
        PlayRequest { hello: Some(hello), ..self.acknowledgement() }
    }

    /// One envelope from the server, one envelope back. Its lists are read in the order of their fields; what is not known
    /// here is passed over.
    async fn react(&mut self, envelope: &PlayResponse, channel: &Channel) -> Result<PlayRequest, Status> {
        let (mut answers, mut give_ups) = (vec![], vec![]);
        if let Some(welcome) = &envelope.welcome {
            if !welcome.resumed {
                self.tables.clear();
            }
            self.say(format_args!("plays at {} ({}), {} tables", self.server, welcome.server, welcome.max_tables));
            self.session = Some(welcome.clone());
            if let Some(entry) = self.bot.arenas.borrow_mut().get_mut(&self.number) {
                entry.is_in = true;
            }
            welcome.elsewhere.iter().for_each(|there| self.bot.dial_too(there));
        }
        for Refusal { table, decision, reason, corrections_left, text, .. } in &envelope.refusals {
            if *reason == RefusalReason::Illegal as i32 && *corrections_left > 0 {
                let option = self.tables.get(table).map(|table| table.safe_option);
                answers.push(Answer { table: *table, decision: *decision, option });
            }
            if ![RefusalReason::Stale as i32, RefusalReason::AlreadyDecided as i32].contains(reason) {
                self.say(text);
            }
        }
        for start in &envelope.starts {
            let words = self.catalogue_of(start, channel).await?;
            self.tables.insert(start.table, Table { start: start.clone(), words, safe_option: 0 });
        }
        for decision in &envelope.decisions {
            match self.decide(decision)? {
                Ok(option) => answers.push(Answer {
                    table: decision.table,
                    decision: decision.decision,
                    option: Some(option as u32),
                }),
                Err(reason) => give_ups.push(GiveUp {
                    table: decision.table,
                    decision: decision.decision,
                    reason,
                    ..Default::default()
                }),
            }
        }
        for end in &envelope.ends {
            if let Some(table) = self.tables.remove(&end.table) {
                report(&table.start, end); // else it is told once more after a resume
            }
        }
        if let Some(drain) = &envelope.drain {
            self.come_back = Duration::from_millis(drain.reconnect_after_ms.into());
        }
        for problem in &envelope.problems {
            self.say(&problem.text);
        }
        self.received = envelope.envelope;
        let each = self.bot.tables_each();
        let max_tables = (std::mem::replace(&mut self.share, each) != each).then(|| each);
        Ok(PlayRequest { answers, give_ups, max_tables, ..self.acknowledgement() })
    }

    /// What the numbers of this match mean; asked for once. Where that fails the match is told again after a resume.
    async fn catalogue_of(&mut self, start: &MatchStarted, channel: &Channel) -> Result<Rc<Catalogue>, Status> {
        if let Some(words) = self.catalogues.get(&start.catalogue_digest) {
            return Ok(words.clone());
        }
        let (game, seats) = (start.game.clone(), start.seats.len() as u32);
        let question = GetGameRequest { game, seats, settings: start.settings.clone() };
        let asked = timeout(PATIENCE, channel.call("/cutpurse.v1.GameService/GetGame", &question)).await;
        let failed = |status: Status| {
            Status::new(code::CANCELLED, format!("no catalogue of {}: {}", start.game, status.message))
        };
        let answer: GetGameResponse = asked.map_err(|_| silent()).and_then(|answer| answer).map_err(failed)?;
        let words = Rc::new(answer.catalogue.unwrap_or_default());
        self.catalogues.insert(start.catalogue_digest.clone(), words.clone());
        Ok(words)
    }

    /// The option that is chosen, or why there is none: then the safe one is taken at once, which is better than to let time
    /// run out.
    fn decide(&mut self, decision: &Decision) -> Result<Result<usize, String>, Status> {
        let unknown = || Status::new(code::CANCELLED, format!("there is no table {}", decision.table));
        let Table { start, words, safe_option } = self.tables.get_mut(&decision.table).ok_or_else(unknown)?;
        *safe_option = decision.safe_option;
        let chosen = catch_unwind(AssertUnwindSafe(|| (self.bot.choose)(decision, words, start.seat as usize)));
        Ok(chosen.map_err(|panic| match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
            (Some(text), _) => text.to_string(),
            (_, Some(text)) => text.clone(),
            _ => "it panicked".to_owned(),
        }))
    }
}

/// Whether who listens there has shown a certificate that is not trusted: OpenSSL tells it in words alone.
fn is_untrusted(ended: &Status) -> bool {
    ended.code == code::UNAVAILABLE && ended.message.contains("certificate verify failed")
}

fn silent() -> Status {
    Status::new(code::UNAVAILABLE, "the server is silent")
}

fn report(start: &MatchStarted, end: &MatchEnded) {
    match end.seats.get(start.seat as usize) {
        Some(mine) if !end.voided => {
            let (place, seats, score) = (mine.place, end.seats.len(), mine.score);
            _ = writeln!(io::stdout(), "{} {} place {place} of {seats}, score {score}", start.r#match, start.game);
        }
        _ => _ = writeln!(io::stdout(), "{} {} is void", start.r#match, start.game),
    }
}
