// The part that thinks. It is yours to change; arena.ts is the part that every bot needs, and can stay as it is.
//
// As it stands this bot plays all five games by one rule, without knowing any of them: of the options it takes the one
// whose cards are worth most. That beats chance. A bot that looks at what lies on the table will beat this one:
//
//   catalogue.asks[decision.ask - 1]         what is asked: its name, its text, the rule it comes from
//   decision.observation.sides[seat].zones   what lies before you: hand, packs, sets; those of the others are beside it
//   decision.observation.zones               what lies on the table: decks, discard piles, the middle
//   decision.observation.pending.at(-1)      what it is about: the attack that you may answer
//   catalogue.zone_kinds, .verbs, .cards     what a number stands for: number n is at n - 1, and 0 is none
//
// Numbers may change from one version of a game to the next, names never do: write down names.
import type { Decision } from "../out/gen/cutpurse/v1/arena_pb.js";
import type { Act, Catalogue } from "../out/gen/cutpurse/v1/game_pb.js";
import { play } from "./arena.js";

/** What is done with a card here is to part with it, or to pay for it: the cheapest will do. */
const PARTING = new Set(["discard", "give", "stake", "contribute", "ditch", "pay", "pick", "choose"]);

/** Rather anything else. */
const IDLE = new Set(["pass", "end_turn", "done"]);

/** What an option promises, in the game's own unit: dollars, points, doubloons. */
function price(option: Act, catalogue: Catalogue): number {
  const verb = catalogue.verbs[option.verb - 1]?.name ?? "";
  if (IDLE.has(verb)) return -1;
  // Card 0 lies face down: it is in no catalogue, and counts for nothing.
  const worth = option.cards.reduce((sum, card) => sum + (catalogue.cards[card - 1]?.value ?? 0), 0);
  return PARTING.has(verb) ? -worth : worth;
}

/**
 * The answer to a decision: a position in `decision.options`.
 *
 * @param catalogue the words of this game: what its numbers mean
 * @param seat where you sit, from 0
 */
function choose(decision: Decision, catalogue: Catalogue, seat: number): number {
  const prices = decision.options.map((option) => price(option, catalogue));
  const best = Math.max(...prices);
  // Of equal ones the safe one, which is what is taken for a bot that does not answer.
  return prices[decision.safeOption] === best ? decision.safeOption : prices.indexOf(best);
}

await play({ name: "typescript", choose });
