"""The report on places that are killed."""

from benchmarks.lost_places import LostPlaces


def test_the_report_names_each_cause_of_void_matches() -> None:
    seen = LostPlaces(120.0, 2, 24, 1_500, 0, {"its place is lost": 12, "a place stood still": 3}, 0, 60_000, 40.2, 90)
    assert seen.lines == [
        "2 places killed in 2.0 minutes; bots moved 24 times",
        "matches with a result: 1,500, 750 a minute",
        "decisions: 60,000, 500 a second",
        "CPU seconds: 40 of the server, 90 of places and bots",
        "faults: 0",
        "void matches: 15 (a place stood still: 3; its place is lost: 12)",
        "bots taken off: 0",
    ]
