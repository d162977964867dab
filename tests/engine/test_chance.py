"""Chance is one published stream: anyone can redo it, and it can be copied, saved and told beforehand."""

from collections import Counter
from hashlib import sha256

import pytest

from cutpurse.engine.chance import KEY_BYTES, Chance, Script, match_key
from tests.roots import CHECKOUT

KEY = bytes(range(32))


def test_the_published_vector() -> None:
    text = (CHECKOUT / "docs" / "explanation" / "engine.md").read_text(encoding="utf-8")
    chance = Chance(KEY)
    numbers = [chance.below(100) for _ in range(6)]
    chance.open(1)
    cards = list(range(10))
    chance.shuffle(cards)
    assert " ".join(map(str, numbers)) in text
    assert " ".join(map(str, cards)) in text
    assert numbers == [38, 88, 51, 95, 63, 69]
    assert cards == [2, 6, 8, 7, 0, 3, 4, 5, 1, 9]


def words_by_hand(key: bytes, deal: int, blocks: int) -> list[int]:
    """The stream as docs/explanation/engine.md tells it, redone from the text."""
    stream = sha256(key + b"deal" + deal.to_bytes(8, "big")).digest()
    digests = b"".join(sha256(stream + i.to_bytes(8, "big")).digest() for i in range(blocks))
    return [int.from_bytes(digests[at : at + 4], "big") for at in range(0, len(digests), 4)]


@pytest.mark.parametrize("deal", [0, 1, 7, 2**40])
@pytest.mark.parametrize("n", [1, 2, 6, 52, 101, 1 << 31, (1 << 31) + 1, 1 << 32])
def test_the_stream_is_what_the_document_says(deal: int, n: int) -> None:
    words = words_by_hand(KEY, deal, 40)
    limit = (1 << 32) // n * n
    expected = [word % n for word in words if word < limit]
    chance = Chance(KEY)
    chance.open(deal)
    assert [chance.below(n) for _ in range(100)] == expected[:100]


def test_words_of_the_incomplete_last_range_are_thrown_away() -> None:
    n = (1 << 31) + 1  # the complete range ends right behind half of all words
    chance = Chance(KEY)
    drawn = [chance.below(n) for _ in range(200)]
    assert max(drawn) < n
    assert chance.at > 300  # nearly every second word went
    assert Chance(KEY).below(1 << 32) == words_by_hand(KEY, 0, 1)[0], "of all words none is thrown away"


def test_every_number_is_about_equally_likely() -> None:
    chance = Chance(KEY)
    counts = Counter(chance.below(7) for _ in range(14_000))
    assert sorted(counts) == list(range(7))
    assert all(1_850 < drawn < 2_150 for drawn in counts.values())  # 2000, and more than three deviations to each side


def test_every_order_of_three_cards_is_about_equally_likely() -> None:
    chance = Chance(KEY)
    counts: Counter[tuple[int, ...]] = Counter()
    for _ in range(6_000):
        cards = [0, 1, 2]
        chance.shuffle(cards)
        counts[tuple(cards)] += 1
    assert len(counts) == 6
    assert all(880 < drawn < 1_120 for drawn in counts.values())


def test_a_fork_and_a_loaded_stream_go_on_alike_and_apart() -> None:
    chance = Chance(KEY)
    chance.open(3)
    for _ in range(13):
        chance.below(1000)
    fork, loaded = chance.fork(), Chance.load(chance.save())
    ahead = [fork.below(1000) for _ in range(30)]
    assert [loaded.below(1000) for _ in range(30)] == ahead
    assert [chance.below(1000) for _ in range(30)] == ahead


@pytest.mark.parametrize("used", range(20))
def test_a_saved_stream_goes_on_from_any_word_of_a_block(used: int) -> None:
    chance = Chance(KEY)
    for _ in range(used):
        chance.below(6)
    assert [Chance.load(chance.save()).below(6)] == [chance.below(6)]


def test_play_in_one_deal_does_not_change_the_next() -> None:
    one, other = Chance(KEY), Chance(KEY)
    for _ in range(99):
        one.below(6)
    one.open(2)
    other.open(2)
    assert [one.below(52) for _ in range(9)] == [other.below(52) for _ in range(9)]


def test_a_new_key_is_drawn_from_the_stream() -> None:
    chance = Chance(KEY)
    first, second = chance.new_key(), chance.new_key()
    assert len(first) == KEY_BYTES
    assert first != second
    assert first == b"".join(word.to_bytes(4, "big") for word in words_by_hand(KEY, 0, 1))


def test_a_key_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes, this one has 31"):
        Chance(bytes(31))


def test_the_keys_of_a_run_follow_from_its_seed() -> None:
    assert match_key("7", 0) == sha256(b"cutpurse/seed/7/0").digest()
    assert match_key(7, 0) == match_key("7", 0)
    assert len({match_key(7, match) for match in range(100)}) == 100


def test_a_script_tells_numbers_and_leaves_cards_alone() -> None:
    script = Script([2, 0])
    fork = script.fork()
    assert script.pick([5, 6, 7]) == 2
    cards = [3, 1, 2]
    script.shuffle(cards)
    assert cards == [3, 1, 2]
    assert script.below(1) == 0
    with pytest.raises(AssertionError, match="has ended, and a number below 4 is wanted"):
        script.below(4)
    with pytest.raises(AssertionError, match="says 2, and a number below 2"):
        fork.below(2)
