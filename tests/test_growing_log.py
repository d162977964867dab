"""A log that grows is searched once, wherever its lines are cut."""

from pathlib import Path

from tests.growing_log import GrowingLog


def test_each_line_is_counted_once_when_it_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "a.log"
    log = GrowingLog(file)
    assert log.count("over") == 0
    with file.open("w") as writing:
        for text, matches, others in [
            ("match over\nmat", 1, 0),
            ("ch over", 1, 0),
            (" over\nwait", 3, 0),
            ("\n", 3, 1),
        ]:
            writing.write(text)
            writing.flush()
            assert (log.count("over"), log.count("wait")) == (matches, others)
