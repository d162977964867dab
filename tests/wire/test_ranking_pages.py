"""Rankings that come in pages are put together, also while matches move bots from one page to the other."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cutpurse.v1 import ladder_pb2
from cutpurse.wire.league import League, rankings


def ranking(name: str) -> ladder_pb2.Ranking:
    return ladder_pb2.Ranking(bot=ladder_pb2.BotName(owner="ann", bot=name, version="1"))


def league(answer: Callable[[ladder_pb2.ListRankingsRequest], ladder_pb2.ListRankingsResponse]) -> League:
    """One that answers ListRankings alone."""

    def ask(name: str, request: object) -> ladder_pb2.ListRankingsResponse:
        assert name == "ListRankings"
        assert isinstance(request, ladder_pb2.ListRankingsRequest)
        return answer(request)

    return League(ask)


@pytest.mark.parametrize(
    ("limit", "bots", "pages"),
    [(None, "abcde", [(0, 0), (0, 2), (0, 4)]), (3, "abc", [(3, 0), (3, 2)]), (2, "ab", [(2, 0)])],
)
def test_pages_are_asked_until_there_is_none_or_enough(
    limit: int | None, bots: str, pages: list[tuple[int, int]]
) -> None:
    asked = []

    def answer(request: ladder_pb2.ListRankingsRequest) -> ladder_pb2.ListRankingsResponse:
        asked.append((request.limit, request.after))
        assert (request.ladder, request.every_version) == ("duel", True)
        end = request.after + 2
        return ladder_pb2.ListRankingsResponse(
            rankings=map(ranking, "abcde"[request.after : end]), next=end if end < 5 else 0
        )

    assert [one.bot.bot for one in rankings(league(answer), "duel", True, limit)] == list(bots)
    assert asked == pages


def test_who_falls_to_the_next_page_meanwhile_is_told_once() -> None:
    pages = {0: ("ab", 2), 2: ("bc", 0)}  # b fell behind c between the two

    def answer(request: ladder_pb2.ListRankingsRequest) -> ladder_pb2.ListRankingsResponse:
        bots, follows = pages[request.after]
        return ladder_pb2.ListRankingsResponse(rankings=map(ranking, bots), next=follows)

    assert [one.bot.bot for one in rankings(league(answer), "duel")] == ["a", "b", "c"]


def test_a_server_that_leads_back_is_not_followed_for_ever() -> None:
    def answer(request: ladder_pb2.ListRankingsRequest) -> ladder_pb2.ListRankingsResponse:
        return ladder_pb2.ListRankingsResponse(rankings=[ranking("a")], next=1)

    assert [one.bot.bot for one in rankings(league(answer), "duel")] == ["a"]
