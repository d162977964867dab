"""`cutpurse serve`: an arena, until it is stopped by a signal."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.completion import complete_bot_lists, complete_databases, complete_games, complete_ladders
from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.games import GAMES, game_named
from cutpurse.leaderboard.address import is_postgresql, without_password
from cutpurse.process.terminal import print_json, print_lines, print_message, table
from cutpurse.server.commands.web import REACHED
from cutpurse.server.hosting.configuration import FILE, Value, configured, mistyped
from cutpurse.server.people import MAX_PEOPLE
from cutpurse.wire.errors import needs
from cutpurse.wire.server_address import DEFAULT_SERVER, SECURE, server_address

if TYPE_CHECKING:
    from cutpurse.server.access.sign_in_settings import SignInSettings
    from cutpurse.server.hosting.certificate import Certificate
    from cutpurse.server.hosting.open_arena import OneOfSeveral
    from cutpurse.server.hosting.page import Page
    from cutpurse.server.league.ladder_setup import LadderSelection
    from cutpurse.server.logs import Logger
    from cutpurse.server.notices.channels import DeliveryTerms
    from cutpurse.server.runners.port import Runner

__all__ = ["serve"]

RUNNERS = ("bubblewrap", "container", "process")


def serve(
    address: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help=f"host:port or unix:/path. [default: {DEFAULT_SERVER}]")
    ] = None,
    db: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            autocompletion=complete_databases,
            help="The database: a file, created if missing, or postgresql://... [default: cutpurse.db]",
        ),
    ] = None,
    game: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GAME", help="A game to play (repeatable). [default: all games]", autocompletion=complete_games
        ),
    ] = None,
    ladders: Annotated[Path | None, typer.Option(metavar="FILE", help="Ladders in TOML, created if missing.")] = None,
    house: Annotated[
        str | None,
        typer.Option(
            metavar="BOTS",
            help="Built-in bots that fill empty seats, such as random,greedy,search. [default: none]",
            autocompletion=complete_bot_lists,
        ),
    ] = None,
    submissions: Annotated[
        str | None,
        typer.Option(
            metavar="RUNNER",
            help="Accept bots and run them: bubblewrap, container, or process (no isolation). [default: off]",
        ),
    ] = None,
    runner_image: Annotated[
        str | None,
        typer.Option(metavar="IMAGE", help="Image for bots in containers. [default: cutpurse-bot]"),
    ] = None,
    places: Annotated[
        bool | None,
        typer.Option("--places", help="Run submitted bots on other machines, by `cutpurse place`, instead of here."),
    ] = None,
    arena_address: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Share the league in --db postgresql://... with other servers; bots dial this one here.",
        ),
    ] = None,
    arena_ladders: Annotated[
        list[str] | None,
        typer.Option(
            "--arena-ladder",
            metavar="LADDER",
            autocompletion=complete_ladders,
            help="A ladder to take first (repeatable); others later. [default: every free one]",
        ),
    ] = None,
    drain: Annotated[
        float | None, typer.Option(metavar="S", help="Seconds for open matches after the first signal. [default: 60]")
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Serve /metrics, /healthz and /readyz over HTTP. [default: off]"),
    ] = None,
    web: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Serve the page for spectators over HTTP. [default: off]")
    ] = None,
    people: Annotated[
        int | None,
        typer.Option(metavar="N", help="People who may play house bots on the page at once, unrated. [default: 0]"),
    ] = None,
    people_per_address: Annotated[
        int | None,
        typer.Option(metavar="N", help="People of --people from one address, such as a school's. [default: half]"),
    ] = None,
    sign_in: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TOML file: people sign in on the page by OpenID Connect. [default: off]"),
    ] = None,
    watch_delay: Annotated[
        float | None, typer.Option(metavar="S", help="Seconds that spectators are behind the bots. [default: 10]")
    ] = None,
    notify: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND",
            help="Send notices: webhook, or a kind of apprise such as mailto (repeatable). [default: none]",
        ),
    ] = None,
    notify_networks: Annotated[
        list[str] | None,
        typer.Option(
            "--notify-network",
            metavar="NETWORK",
            help="Network such as 10.1.0.0/16 that webhooks may be in (repeatable). [default: the public internet]",
        ),
    ] = None,
    page_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Where people reach the page, for links in notices. [default: no links]"),
    ] = None,
    test_share: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Share of the tables in use for version tests, 0 to 1; 0 plays none. [default: 0.1]"
        ),
    ] = None,
    tls_cert: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Certificate chain, PEM; read again when it changes.")
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(metavar="FILE", help="Its private key, PEM.")] = None,
    insecure: Annotated[
        bool | None,
        typer.Option("--insecure", help="Allow other machines without TLS, for example behind a TLS proxy."),
    ] = None,
    log_level: Annotated[
        str | None, typer.Option(metavar="LEVEL", help="debug, info, warning or error. [default: info]")
    ] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help=f"Settings in TOML. [default: {FILE}]")] = None,
    show_config: Annotated[
        bool, typer.Option("--show-config", help="Print each setting and where it was set, and exit.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run a server on which bots play each other on the database's ladders, until SIGTERM or Ctrl-C.

    A database without ladders gets one for each game.

    Each setting is a flag, an environment variable such as CUTPURSE_LOG_LEVEL, or a line of cutpurse.toml; the first
    that has a value counts. Once the database has a token (`cutpurse token create`), bots need one; until then every
    user of this machine may play. A second signal ends the wait for open matches.

    Example: cutpurse serve --db league.db --address 0.0.0.0:7777 --tls-cert cert.pem --tls-key key.pem
    """
    flags = {
        "address": address,
        "db": db,
        "games": tuple(game) if game else None,
        "ladders": ladders,
        "house": tuple(part.strip() for part in house.split(",") if part.strip()) if house is not None else None,
        "submissions": submissions,
        "runner_image": runner_image,
        "places": places,
        "arena_address": arena_address,
        "arena_ladders": tuple(arena_ladders) if arena_ladders else None,
        "drain": drain,
        "metrics": metrics,
        "web": web,
        "people": people,
        "people_per_address": people_per_address,
        "sign_in": sign_in,
        "watch_delay": watch_delay,
        "notify": tuple(notify) if notify else None,
        "notify_networks": tuple(notify_networks) if notify_networks else None,
        "page_url": page_url,
        "test_share": test_share,
        "tls_cert": tls_cert,
        "tls_key": tls_key,
        "insecure": insecure,
        "log_level": log_level,
    }
    values = configured(flags, os.environ, config)
    for name, meant in mistyped(os.environ):
        print_message(f"{name} is no setting, and is passed over; is {meant} meant?")
    if show_config:
        _show(values, as_json)
    else:
        _serve(values)


def _show(values: dict[str, Value], as_json: bool) -> None:
    shown = {name: [*value] if isinstance(value, tuple) else value for name, (value, _) in values.items()}
    shown = {name: str(value) if isinstance(value, Path) else value for name, value in shown.items()}
    shown["db"] = without_password(str(shown["db"]))
    if as_json:
        print_json({name: {"value": shown[name], "from": where} for name, (_, where) in values.items()})
        return
    cells = [
        (name, ", ".join(value) if isinstance(value, list) else "" if value is None else str(value), values[name].where)
        for name, value in shown.items()
    ]
    print_lines(table(("setting", "value", "from"), cells))


def _serve(values: dict[str, Value]) -> None:
    with needs("server"):
        from cutpurse.leaderboard.errors import InUse, LeaderboardError
        from cutpurse.server.hosting.listen_address import host_and_port
        from cutpurse.server.logs import LEVELS, capture_library_logs, logger
        from cutpurse.server.open_files import raise_file_limit
    _check_numbers(values, LEVELS)
    wanted = _wanted(values)
    runner = _runner(values)
    several = _one_of_several(values, [ladder.name for ladder in wanted.people_ladders])
    notify = _notify(values)
    sign_in = _sign_in(values)
    if metrics := values["metrics"].value:
        host_and_port(metrics)  # before the database is created
    if values["web"].value:
        with needs("web"):
            import cutpurse.server.web.app
            import cutpurse.server.web.serving  # noqa: F401  # only a check; the page is another process
    log = logger(sys.stderr, values["log_level"].value)
    capture_library_logs(log)
    raise_file_limit(log)
    for problem in GAMES.problems():
        log.warning("game left out", text=problem)
    try:
        _run(values, wanted, log, runner, several, notify, sign_in)
    except InUse as problem:
        raise CutpurseError(f"{problem}; is it another server?") from None
    except LeaderboardError as problem:
        raise CutpurseError(str(problem)) from None


def _run(
    values: dict[str, Value],
    wanted: LadderSelection,
    log: Logger,
    runner: Runner | None,
    several: OneOfSeveral | None,
    notify: DeliveryTerms | None,
    sign_in: SignInSettings | None,
) -> None:
    """Run the arena and its helper processes, until it is stopped by a signal."""
    import asyncio
    from datetime import UTC, datetime

    from cutpurse.server.hosting.arena import serve as run
    from cutpurse.server.hosting.estimating import Estimating
    from cutpurse.server.hosting.house_processes import House
    from cutpurse.server.hosting.monitoring import Monitoring
    from cutpurse.server.hosting.open_arena import open_arena
    from cutpurse.server.hosting.probes import pages
    from cutpurse.server.league.ladder_setup import played

    address, db, web = values["address"].value, values["db"].value, values["web"].value
    certificate = _certificate(values, log)
    with ExitStack() as stack:
        people = int(values["people"].value)
        people_ladders = [ladder.name for ladder in wanted.people_ladders]
        house = (
            stack.enter_context(House(wanted.house, log, people=people, people_ladders=people_ladders))
            if wanted.house
            else None
        )
        page = stack.enter_context(_page(web, log, values, wanted.house)) if web else None
        opened = stack.enter_context(
            open_arena(
                address,
                db,
                lambda store: played(store, wanted, datetime.now(UTC), log),
                log,
                certificate=certificate,
                insecure=values["insecure"].value,
                house=house.token if house is not None else None,
                people=page.token if page is not None else None,
                has_page=page is not None,
                watch_delay_s=values["watch_delay"].value,
                submissions=runner,
                has_places=values["places"].value,
                one_of_several=several,
                notify=notify,
                test_share=values["test_share"].value,
                sign_in=sign_in,
            )
        )
        is_own = (lambda ladder: True) if several is None else opened.lobby.plays
        estimating = stack.enter_context(Estimating(opened.store, log, is_own=is_own))
        if metrics := values["metrics"].value:
            monitoring = stack.enter_context(Monitoring(metrics, pages(opened), log))
            print_message(f"metrics at http://{monitoring.address}/metrics")
        whom = "bots with a token" if opened.asks_for_tokens else "every bot of this machine, without a token"

        def listening(bound: str) -> None:
            print_message(f"bots dial in at {bound}; results in {opened.store.database}")
            print_message(f"accepted: {whom}")
            if several is not None:
                own = ", ".join(ladder.name for ladder in opened.lobby.own_ladders) or "none yet"
                print_message(f"one of several servers, dialled at {several.address}; its ladders: {own}")
            if notify is not None:
                _tell_of_notices(notify, opened.asks_for_tokens)
            estimating.begin(opened.arena)
            if runner is not None:
                _tell_of_the_runner(runner)
                if values["places"].value:
                    print_message("they run at places: cutpurse place --server ADDRESS, with a token of scope place")
            if house is not None:
                house.begin(opened.arena)
                print_message(f"house bots: {', '.join(wanted.house)}")
            if sign_in is not None:
                print_message(f"people sign in with {sign_in.name}, which sends them back to {sign_in.callback}")
            if page is not None:
                page.begin(opened.arena, bound)
                _tell_of_the_page(page)

        asyncio.run(run(opened.arena, values["drain"].value, listening, ends_process=True))


def _tell_of_the_runner(runner: Runner) -> None:
    print_message(f"bots may be submitted; runner: {runner.name}" + (f" with {runner.image}" if runner.image else ""))
    for weaker in runner.weaker():
        print_message(f"  {weaker}")


def _tell_of_notices(notify: DeliveryTerms, asks_for_tokens: bool) -> None:
    if asks_for_tokens:
        print_message(f"notices are sent to receivers: {', '.join(notify.kinds)}")
    else:
        print_message("no notices are sent: receivers have owners, and there is no token yet")


def _tell_of_the_page(page: Page) -> None:
    from cutpurse.server.hosting.listen_address import is_local

    print_message(f"the page is at http://{page.address}/")
    if not is_local(page.address):
        print_message(REACHED)


def _runner(values: dict[str, Value]) -> Runner | None:
    """Return the runner for submitted bots; None if there is none.

    Raises:
        UsageError: If it is unknown, or does not work on this machine.
    """
    from cutpurse.server.runners.port import runner_named

    name, where = values["submissions"]
    if name == "off":
        if (places := values["places"]).value:
            raise UsageError(f"{places.where}: places run submitted bots, so add --submissions RUNNER")
        return None
    if name not in RUNNERS:
        raise UsageError(f"{where} {name!r:.80}: there are: {', '.join(RUNNERS)}, off")
    runner = runner_named(name, values["runner_image"].value)
    if (why := runner.missing()) is not None:
        raise UsageError(f"{where} {name}: {why}")
    return runner


def _notify(values: dict[str, Value]) -> DeliveryTerms | None:
    """Return the receivers that notices are sent to; None if none are sent.

    Raises:
        UsageError: If a kind is unknown, or a network or the address of the page has the wrong form.
    """
    from cutpurse.server.notices.address_rule import read_networks
    from cutpurse.server.notices.channels import WEBHOOK, DeliveryTerms

    kinds, networks, page_url = (values[name] for name in ("notify", "notify_networks", "page_url"))
    if not kinds.value:
        for setting in (networks, page_url):
            if setting.value:
                raise UsageError(f"{setting.where}: it is for notices; add --notify KIND")
        return None
    if others := [kind for kind in kinds.value if kind != WEBHOOK]:
        with needs("notify"):
            import apprise  # noqa: F401  # imported here, and not while bots play
        from cutpurse.server.notices.apprise_channel import is_apprise_kind

        for kind in others:
            if kind in ("http", "https") or not is_apprise_kind(kind):
                raise UsageError(f"{kinds.where} {kind!r:.80}: it is webhook, or a kind of apprise such as mailto")
    if page_url.value and not re.fullmatch(r"https?://[^\s?#]+", page_url.value, re.ASCII):
        raise UsageError(f"{page_url.where} {page_url.value!r:.100}: it is an address such as https://league.example")
    try:
        return DeliveryTerms(tuple(kinds.value), read_networks(networks.value), page_url.value)
    except ValueError as problem:
        raise UsageError(f"{networks.where}: {problem}; a network is written as 10.1.0.0/16") from None


def _one_of_several(values: dict[str, Value], people_ladders: Sequence[str]) -> OneOfSeveral | None:
    """Return how this server shares its ladders with others; None if it plays all of them, alone.

    `people_ladders` are those on which the people of its page play.

    Raises:
        UsageError: If the settings do not fit together.
    """
    from cutpurse.server.hosting.open_arena import OneOfSeveral

    address, ladders = values["arena_address"], values["arena_ladders"]
    if not address.value:
        if ladders.value:
            raise UsageError(f"{ladders.where}: it is for one of several servers; add --arena-address ADDRESS")
        return None
    if not is_postgresql(values["db"].value):
        raise UsageError(f"{address.where}: several servers share a database postgresql://..., not a file; see --db")
    is_secure = str(address.value).startswith(SECURE)
    if is_secure != (values["tls_cert"].value is not None) and not values["insecure"].value:
        what = f"with a certificate it begins with {SECURE}" if not is_secure else "that needs --tls-cert and --tls-key"
        raise UsageError(f"{address.where} {address.value}: {what}")
    return OneOfSeveral(server_address(address.value), ladders.value, people_ladders)


def _sign_in(values: dict[str, Value]) -> SignInSettings | None:
    """Return how people sign in at a provider; None if they cannot.

    Raises:
        UsageError: If the settings are invalid.
    """
    file: Path | None = values["sign_in"].value
    if file is None:
        return None
    with needs("openid"):
        import cutpurse.server.access.openid_provider  # noqa: F401  # only a check
    from cutpurse.server.access.sign_in_settings import read_sign_in

    return read_sign_in(file, os.environ)


def _check_numbers(values: dict[str, Value], levels: Collection[str]) -> None:
    level = values["log_level"]
    if level.value not in levels:
        raise UsageError(f"{level.where} {level.value!r:.80}: there are: {', '.join(levels)}")
    people = values["people"]
    if not 0 <= people.value <= MAX_PEOPLE or people.value != int(people.value):
        raise UsageError(f"{people.where} {people.value:g}: it can be 0 to {MAX_PEOPLE}")
    if people.value and not (values["web"].value and values["house"].value):
        raise UsageError(f"{people.where} {people.value:g}: people play house bots on the page; add --web and --house")
    of_one = values["people_per_address"]
    if not 0 <= of_one.value <= people.value or of_one.value != int(of_one.value):
        raise UsageError(f"{of_one.where} {of_one.value:g}: it can be 1 to the number of --people; 0 means half of it")
    share = values["test_share"]
    if not 0 <= share.value <= 1:
        raise UsageError(f"{share.where} {share.value:g}: it is a share from 0 to 1")
    for seconds in (values["drain"], values["watch_delay"]):
        if not 0 <= seconds.value < float("inf"):
            raise UsageError(f"{seconds.where} {seconds.value:g}: a number of seconds is 0 or more")


def _page(address: str, log: Logger, values: dict[str, Value], house: Sequence[str]) -> Page:
    """Return the page, on which people may play with these house bots."""
    from cutpurse.server.hosting.page import Page

    people, share = int(values["people"].value), int(values["people_per_address"].value)
    return Page(address, log, people=people, people_share=share, house=house)


def _wanted(values: dict[str, Value]) -> LadderSelection:
    """Return the ladders to play, and their house bots."""
    from cutpurse.cli.ladder_file import read_ladders
    from cutpurse.server.house_bots import check_house
    from cutpurse.server.league.ladder_setup import LadderSelection

    games = [game_named(name).words.game for name in values["games"].value]
    file: Path | None = values["ladders"].value
    defined = read_ladders(file) if file is not None else []
    house = check_house(values["house"].value, values["house"].where)
    return LadderSelection(games, defined, str(file), house, people=bool(values["people"].value))


def _certificate(values: dict[str, Value], log: Logger) -> Certificate | None:
    from cutpurse.server.hosting.certificate import Certificate

    chain, key = values["tls_cert"], values["tls_key"]
    if (chain.value is None) != (key.value is None):
        there = chain if key.value is None else key
        raise UsageError(f"{there.where} {there.value}: a certificate and its key are needed, --tls-cert and --tls-key")
    if chain.value is None:
        return None
    if str(values["address"].value).startswith("unix:"):
        raise UsageError(f"{chain.where} {chain.value}: a unix socket has no use for TLS")
    return Certificate(chain.value, key.value, log)
