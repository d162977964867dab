// What a bot needs of arena.cc.
#ifndef ARENA_H_
#define ARENA_H_

#include <cstdint>
#include <functional>
#include <string>

#include "cutpurse/v1/arena.pb.h"
#include "cutpurse/v1/game.pb.h"

// The namespace is that of the .proto files: cutpurse::v1 has their messages.
namespace cutpurse {

// Given a decision, the catalogue that explains its numbers, and the bot's seat: the position in
// decision.options(). Whatever it throws is told to the server, which then takes the safe option at
// once.
using Chooser = std::function<std::uint32_t(const v1::Decision&, const v1::Catalogue&, std::uint32_t seat)>;

// Plays at CUTPURSE_SERVER until it is told to leave, and returns the exit code of the program.
// `name` is the bot's, where CUTPURSE_BOT says no other. To be called once, before there is any
// thread.
int Run(const std::string& name, const Chooser& choose);

}  // namespace cutpurse

#endif  // ARENA_H_
