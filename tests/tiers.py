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
    "parts/submissions",
    "timing",
    "leaderboard/test_backup.py",
    "leaderboard/test_killed.py",
    "learn/test_batch_jobs.py",
    "learn/test_data_sets.py",
    "learn/test_learning_libraries.py",
    "parts/hosts/test_bad_places.py",
    "parts/hosts/test_hostile_at_places.py",
    "parts/hosts/test_killed_in_turn.py",
    "parts/hosts/test_lost_places.py",
    "parts/hosts/test_playing_at_places.py",
    "parts/hosts/test_real_server.py",
    "check/test_beside_busy_processes.py",
    "check/test_bot_check.py",
    "cli/test_bot_init.py",
    "sdk/test_bots_of_the_pages.py",
    "process/test_child_processes.py",
    "cli/test_hash_seed.py",
    "process/test_killed_workers.py",
    "cli/test_on_a_terminal.py",
    "process/test_processes.py",
    "sdk/test_program_bots.py",
    "process/test_ray.py",
    "cli/test_match.py",
    "cli/test_signalled_start.py",
    "cli/test_local_tournament.py",
    "server/test_bot_pause.py",
    "server/test_commands.py",
    "server/test_db_command.py",
    "server/test_demo.py",
    "server/test_house.py",
    "cli/test_league_commands.py",
    "server/test_metrics.py",
    "server/test_monitoring.py",
    "server/test_newcomer.py",
    "parts/notices/test_notices_killed.py",
    "parts/test_without_parts.py",
    "server/test_outside_game.py",
    "server/test_postgresql_command.py",
    "parts/cluster/test_several_servers.py",
    "server/test_stalls.py",
    "server/test_tournament.py",
    "test_compiled.py",
    "test_tutorials.py",
    "lab/test_training.py",
    "parts/workers/test_real_workers.py",
    # `make test` uses a browser only in page/test_everyday_questions.py.
    "page/test_beside_a_replay.py",
    "page/test_bracket_in_a_browser.py",
    "page/test_demo_open.py",
    "page/test_every_page.py",
    "page/test_harness.py",
    "page/test_live_in_a_browser.py",
    "page/test_live_pages.py",
    "page/test_moving.py",
    "page/test_provider_in_a_browser.py",
    "page/test_replay_in_a_browser.py",
    "page/test_seat_in_a_browser.py",
    "page/test_seat_lost_stream.py",
    "page/test_serving.py",
    "page/test_sign_in_in_a_browser.py",
    "page/test_submit_on_the_page.py",
    "page/test_table_fits.py",
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
    "lab/test_comparison.py",
    "lab/test_equal_bots.py",
    "lab/test_standings.py",
    "test_bench.py",
    "page/test_bad_requests.py",
    "page/test_frames.py",
    "page/test_friends.py",
    "page/test_game_pictures.py",
    "page/test_live_tables.py",
    "page/test_play_on.py",
)
FULL: Final = (*_PROCESSES, *_PLANTED, *_REPEATED)
_LISTED: Final = frozenset(map(PurePath, FULL))


def is_full(path: PurePath) -> bool:
    """Return whether all tests of this file, relative to `tests`, are `full`."""
    return not _LISTED.isdisjoint((path, *path.parents))
