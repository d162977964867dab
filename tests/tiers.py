"""The tests marked `full`, which only `make test-all` runs.

A test is `full` for one of three reasons. It needs many processes, or programs that a new developer may not have: a
compiler, a sandbox, a browser. It plants a fault to show that a check can fail. Or it repeats a faster test with other
numbers of players, more seeds or more matches.

Whole folders and files are listed here; a single test, or one of its cases, has the marker `full`. The other tests must
take at most four minutes on two cores.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

__all__ = ["FULL", "is_full"]

_PROCESSES: Final = (
    "faults",
    "hostile",
    "languages",
    "sandbox",
    "submissions",
    "timing",
    "leaderboard/test_backup.py",
    "leaderboard/test_killed.py",
    "learn/test_batch_jobs.py",
    "learn/test_data_sets.py",
    "learn/test_learning_libraries.py",
    "places/test_bad_places.py",
    "places/test_hostile_at_places.py",
    "places/test_killed_in_turn.py",
    "places/test_lost_places.py",
    "places/test_playing_at_places.py",
    "places/test_real_server.py",
    "sdk/test_bot_check.py",
    "sdk/test_bot_init.py",
    "sdk/test_bots_of_the_pages.py",
    "sdk/test_child_processes.py",
    "sdk/test_hash_seed.py",
    "sdk/test_killed_workers.py",
    "sdk/test_on_a_terminal.py",
    "sdk/test_processes.py",
    "sdk/test_program_bots.py",
    "sdk/test_ray.py",
    "sdk/test_records.py",
    "experiments/test_tournament_command.py",
    "server/test_bot_pause.py",
    "server/test_commands.py",
    "server/test_db_command.py",
    "server/test_demo.py",
    "server/test_house.py",
    "server/test_league_commands.py",
    "server/test_metrics.py",
    "server/test_monitoring.py",
    "server/test_newcomer.py",
    "server/test_notices_killed.py",
    "server/test_outside_game.py",
    "server/test_postgresql_command.py",
    "server/test_several_servers.py",
    "server/test_stalls.py",
    "server/test_tournament.py",
    "test_compiled.py",
    "train/test_training.py",
    "workers/test_real_workers.py",
    # `make test` uses a browser only in web/test_everyday_questions.py.
    "web/test_beside_a_replay.py",
    "web/test_bracket_in_a_browser.py",
    "web/test_demo_open.py",
    "web/test_every_page.py",
    "web/test_harness.py",
    "web/test_live_in_a_browser.py",
    "web/test_live_pages.py",
    "web/test_moving.py",
    "web/test_provider_in_a_browser.py",
    "web/test_replay_in_a_browser.py",
    "web/test_seat_in_a_browser.py",
    "web/test_seat_lost_stream.py",
    "web/test_serving.py",
    "web/test_sign_in_in_a_browser.py",
    "web/test_submit_on_the_page.py",
    "web/test_table_fits.py",
)
_PLANTED: Final = (
    "learn/test_planted_leaks.py",
    "llm/test_planted_leaks.py",
    "properties/test_planted_leaks.py",
    "wire/test_planted_faults.py",
    "simulation/test_planted_bugs.py",
)
_REPEATED: Final = (
    "benchmarks",
    "bots/test_degenerate.py",
    "bots/test_node_bot.py",
    "bots/test_search.py",
    "leaderboard/test_fitting.py",
    "learn/test_spiel.py",
    "properties/test_reasoner.py",
    "properties/test_timed_matches.py",
    "properties/test_twin_watchers.py",
    "sdk/test_boards.py",
    "experiments/test_equal_bots.py",
    "experiments/test_standings.py",
    "test_bench.py",
    "web/test_bad_requests.py",
    "web/test_frames.py",
    "web/test_friends.py",
    "web/test_game_pictures.py",
    "web/test_live_tables.py",
    "web/test_play_on.py",
)
FULL: Final = (*_PROCESSES, *_PLANTED, *_REPEATED)
_LISTED: Final = frozenset(map(PurePath, FULL))


def is_full(path: PurePath) -> bool:
    """Return whether all tests of this file, relative to `tests`, are `full`."""
    return not _LISTED.isdisjoint((path, *path.parents))
