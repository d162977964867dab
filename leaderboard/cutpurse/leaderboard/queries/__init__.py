"""The queries of a leaderboard; each function takes a connection, only reads, and returns plain values.

All matches here are finished; unfinished matches are not visible.
"""

from cutpurse.leaderboard.queries.bots import BotEntry, Pause, bots, pause
from cutpurse.leaderboard.queries.history import HistoryStep, Opponent, StepOpponent, history, opponents
from cutpurse.leaderboard.queries.ladders import LadderEntry, ladder, ladders
from cutpurse.leaderboard.queries.logs import SeatLogEntry, logs, published_notes
from cutpurse.leaderboard.queries.matches import MatchEntry, SeatEntry, courses, has_record, match, matches, record
from cutpurse.leaderboard.queries.rankings import Ranking, rankings, standings
from cutpurse.leaderboard.queries.steps import RatingStep, ladder_history
from cutpurse.leaderboard.queries.tokens import TokenEntry, has_tokens, token, tokens

__all__ = [
    "BotEntry",
    "HistoryStep",
    "LadderEntry",
    "MatchEntry",
    "Opponent",
    "Pause",
    "Ranking",
    "SeatEntry",
    "SeatLogEntry",
    "RatingStep",
    "StepOpponent",
    "TokenEntry",
    "bots",
    "courses",
    "has_record",
    "has_tokens",
    "history",
    "ladder",
    "ladder_history",
    "ladders",
    "logs",
    "match",
    "matches",
    "opponents",
    "pause",
    "published_notes",
    "rankings",
    "record",
    "standings",
    "token",
    "tokens",
]
