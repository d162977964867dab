// A bot for Cutpurse in Go. This file is the part that thinks, and yours to change; arena.go, which every bot needs,
// is best left as it is.
package main

import (
	"os"

	pb "cutpurse/v1"
)

func main() {
	os.Exit(Run("go", choose))
}

// choose returns the position in decision.Options of what the bot does. The catalogue says what the numbers mean: card
// n is catalogue.Cards[n-1], verb n is catalogue.Verbs[n-1]. All that the bot may know of the table is in
// decision.Observation.
//
// A simple rule, the same for all games: the option of the highest price; of equal ones the safe one if it is among
// them, which is also what is taken for a bot that does not answer.
func choose(decision *pb.Decision, catalogue *pb.Catalogue, seat int) int {
	best := int(decision.SafeOption)
	most := price(decision.Options[best], catalogue)
	for position, option := range decision.Options {
		if promised := price(option, catalogue); promised > most {
			best, most = position, promised
		}
	}
	return best
}

// givesAway has the verbs by which cards go: the cheapest will do.
var givesAway = map[string]bool{
	"discard": true, "give": true, "stake": true, "contribute": true,
	"ditch": true, "pay": true, "pick": true, "choose": true,
}

// stops has those by which nothing happens: rather anything else.
var stops = map[string]bool{"pass": true, "end_turn": true, "done": true}

// price says what an option promises: what its cards count at the end of the game. Here is much to gain: look at
// catalogue.Game.Game, which names the game, at decision.Observation, and at the rules in catalogue.Rules.
func price(option *pb.Act, catalogue *pb.Catalogue) int {
	verb := catalogue.Verbs[option.Verb-1].Name
	if stops[verb] {
		return -1
	}
	sum := 0
	for _, card := range option.Cards {
		if card != 0 { // which lies face down
			sum += int(catalogue.Cards[card-1].Value)
		}
	}
	if givesAway[verb] {
		return -sum
	}
	return sum
}
