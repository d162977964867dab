// A bot for Cutpurse in C++. This file is the part that thinks, and it is yours to change; arena.cc is the part that
// every bot needs: it talks to the server.

#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>

#include "arena.h"

namespace {

using cutpurse::v1::Act;
using cutpurse::v1::Catalogue;
using cutpurse::v1::Decision;

// What is done with cards that one then no longer has: the cheapest will do.
const std::set<std::string> kLosing = {"discard", "give", "stake", "contribute", "ditch", "pay", "pick", "choose"};

// What is done to do nothing: rather anything else.
const std::set<std::string> kIdle = {"pass", "end_turn", "done"};

// What a number means: those of cards, verbs and the like are places in a list of the catalogue, and begin with 1.
template <typename List>
const auto& Meaning(const List& list, std::uint32_t number) {
  if (number < 1 || number > static_cast<std::uint32_t>(list.size())) throw std::out_of_range("not in the catalogue");
  return list.Get(static_cast<int>(number) - 1);
}

// What an option promises. An option is a verb and what it is done to: cards, a zone, a seat, a number (`Act` in
// game.proto). Of a card the catalogue also tells its name, sort and traits.
std::int64_t Price(const Act& option, const Catalogue& words) {
  const std::string& verb = Meaning(words.verbs(), option.verb()).name();
  if (kIdle.count(verb) > 0) return -1;
  std::int64_t sum = 0;
  for (const std::uint32_t card : option.cards()) {
    if (card != 0) sum += Meaning(words.cards(), card).value();  // 0 lies face down
  }
  return kLosing.count(verb) > 0 ? -sum : sum;
}

// The position of the option to take. This bot looks at nothing but the options, in all games alike
// (words.game().game() says which it is): the best price. You see more: decision.observation() is the table, and its
// sides(seat) is what lies before you. Of equal options it takes the safe one, as is done for a bot that does not
// answer, else the first.
std::uint32_t Choose(const Decision& decision, const Catalogue& words, std::uint32_t /*seat*/) {
  std::uint32_t best = decision.safe_option();
  std::int64_t most = Price(decision.options(best), words);
  for (int i = 0; i < decision.options_size(); ++i) {
    const std::int64_t price = Price(decision.options(i), words);
    if (price > most) {
      best = i;
      most = price;
    }
  }
  return best;
}

}  // namespace

int main() { return cutpurse::Run("cpp", Choose); }
