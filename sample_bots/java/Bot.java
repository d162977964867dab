import cutpurse.v1.Arena.Decision;
import cutpurse.v1.Game.Act;
import cutpurse.v1.Game.Catalogue;
import java.util.Set;

/**
 * A bot for Cutpurse. This file is the part that thinks, and yours to change; Arena.java, which every bot needs, is
 * best left as it is.
 */
public final class Bot {
  /** The verbs by which cards go: the cheapest will do. */
  private static final Set<String> GIVES_AWAY =
      Set.of("discard", "give", "stake", "contribute", "ditch", "pay", "pick", "choose");

  /** Those by which nothing happens: rather anything else. */
  private static final Set<String> STOPS = Set.of("pass", "end_turn", "done");

  private Bot() {}

  public static void main(String[] arguments) throws Exception {
    System.exit(Arena.run("java", Bot::choose));
  }

  /**
   * Returns the position in {@code decision.getOptionsList()} of what the bot does. The catalogue says what the
   * numbers mean: card n is {@code catalogue.getCards(n - 1)}, verb n is {@code catalogue.getVerbs(n - 1)}. All that
   * the bot may know of the table is in {@code decision.getObservation()}.
   *
   * <p>A simple rule, the same for all games: the option of the highest price; of equal ones the safe one if it is
   * among them, which is also what is taken for a bot that does not answer.
   */
  static int choose(Decision decision, Catalogue catalogue, int seat) {
    int best = decision.getSafeOption();
    long most = price(decision.getOptions(best), catalogue);
    for (int position = 0; position < decision.getOptionsCount(); position++) {
      long promised = price(decision.getOptions(position), catalogue);
      if (promised > most) {
        best = position;
        most = promised;
      }
    }
    return best;
  }

  /**
   * Returns what an option promises: what its cards count at the end of the game. Here is much to gain: look at {@code
   * catalogue.getGame().getGame()}, which names the game, at the observation, and at the rules in {@code
   * catalogue.getRules()}.
   */
  private static long price(Act option, Catalogue catalogue) {
    String verb = catalogue.getVerbs(option.getVerb() - 1).getName();
    if (STOPS.contains(verb)) {
      return -1;
    }
    long sum = 0;
    for (int card : option.getCardsList()) {
      if (card != 0) { // which lies face down
        sum += catalogue.getCards(card - 1).getValue();
      }
    }
    return GIVES_AWAY.contains(verb) ? -sum : sum;
  }
}
