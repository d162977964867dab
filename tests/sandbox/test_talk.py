"""What a program says is kept within bounds of a second and in all, in a time of the test's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutpurse.server.runners.output_log import OutputLog, read_talk


def test_a_second_has_its_room_which_comes_back_in_portions(tmp_path: Path) -> None:
    talk = OutputLog(tmp_path / "talk", 1_600, 10_000, 0.0)
    assert talk.room(0.0) == 1_600
    talk.take(b"a" * 1_590 + b"\n")
    assert talk.room(0.01) == 0  # 25 bytes by now, which are not worth while
    talk.leave_out(5_000)
    assert talk.room(0.2) == 329
    talk.take(b"back\n")
    assert talk.room(100.0) == 1_600
    talk.close()
    assert read_talk(tmp_path / "talk", 10_000) == "a" * 1_590 + "\n\n[5000 bytes left out]\nback\n"


def test_the_older_half_goes_when_the_file_is_full(tmp_path: Path) -> None:
    talk = OutputLog(tmp_path / "talk", 10**9, 1_000, 0.0)
    for number in range(100):
        talk.take(b"%098d\n\n" % number)
    talk.close()
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) == 1_000
    kept = read_talk(tmp_path / "talk", 1_000)
    assert [int(line) for line in kept.split()] == [*range(90, 100)]
    assert read_talk(tmp_path / "talk", 250) == kept[-250:]


def test_a_letter_in_two_pieces_is_one_and_what_is_no_letter_is_shown(tmp_path: Path) -> None:
    talk = OutputLog(tmp_path / "talk", 1_000, 1_000, 0.0)
    talk.take("ż".encode()[:1])
    talk.take("ż".encode()[1:] + b"\x00\x7f\r\n\xe2\x80\xae\xff")
    talk.take(b"\xc5")
    talk.close()
    assert read_talk(tmp_path / "talk", 1_000) == "ż\\x00\\x7f\n\\u202e\ufffd\ufffd"


def test_a_link_in_the_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious", encoding="utf-8")
    (tmp_path / "talk").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="talk"):
        OutputLog(tmp_path / "talk", 1_000, 1_000, 0.0)
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "precious"
