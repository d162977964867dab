//! A bot for Cutpurse in Rust. This file is the part that thinks, and it is yours to change; `arena.rs` is the part that
//! every bot needs: it talks to the server, by `grpc.rs`.

mod arena;
mod grpc;

/// The messages of the .proto files, which say what each field means.
pub mod v1 {
    include!(concat!(env!("OUT_DIR"), "/cutpurse.v1.rs"));
}

use v1::{Act, Catalogue, Decision};

/// What is done with cards that one then no longer has: the cheapest will do.
const LOSING: [&str; 8] = ["discard", "give", "stake", "contribute", "ditch", "pay", "pick", "choose"];

/// What is done to do nothing: rather anything else.
const IDLE: [&str; 3] = ["pass", "end_turn", "done"];

/// What an option promises. An option is a verb and what it is done to: cards, a zone, a seat, a number. These are
/// places in lists of the catalogue, from 1 on, and card 0 lies face down; of a card the catalogue also tells its name,
/// sort and traits.
fn price(option: &Act, words: &Catalogue) -> i64 {
    let verb = words.verbs[option.verb as usize - 1].name.as_str();
    if IDLE.contains(&verb) {
        return -1;
    }
    let seen = option.cards.iter().filter(|&&card| card != 0);
    let sum: i64 = seen.map(|&card| i64::from(words.cards[card as usize - 1].value)).sum();
    if LOSING.contains(&verb) {
        -sum
    } else {
        sum
    }
}

/// The position of the option to take. This bot looks at nothing but the options, in all games alike (`words.game` says
/// which it is): the best price. You see more: `decision.observation` is the table, and its `sides[seat]` is what lies
/// before you. Of equal options it takes the safe one, as is done for a bot that does not answer, else the first.
///
/// Where it panics the server is told, and takes the safe option at once.
fn choose(decision: &Decision, words: &Catalogue, _seat: usize) -> usize {
    let mut best = decision.safe_option as usize;
    let mut most = price(&decision.options[best], words);
    for (position, option) in decision.options.iter().enumerate() {
        let promised = price(option, words);
        if promised > most {
            (best, most) = (position, promised);
        }
    }
    best
}

fn main() -> std::process::ExitCode {
    arena::run("rust", choose)
}
