"""`cutpurse serve`: an arena, until it is stopped by a signal."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.completion import complete_bot_lists, complete_databases, complete_games, complete_ladders
from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.games import GAMES, game_named
from cutpurse.leaderboard.address import without_password
from cutpurse.process.signals import run_async
from cutpurse.process.terminal import print_json, print_lines, print_message, table
from cutpurse.server.commands.web import REACHED
from cutpurse.server.hosting.configuration import Value, check_values, configured, mistyped
from cutpurse.server.hosting.part import PartKind, PartWithSettings, parts_to_serve, read_settings
from cutpurse.server.settings import FILE, SETTINGS, Kind, Setting
from cutpurse.wire.errors import needs

if TYPE_CHECKING:
    from cutpurse.server.hosting.certificate import Certificate
    from cutpurse.server.hosting.page import Page
    from cutpurse.server.league.ladder_setup import LadderSelection
    from cutpurse.server.logs import Logger

__all__ = ["serve"]


def serve(
    config: Annotated[Path | None, typer.Option(metavar="FILE", help=f"Settings in TOML. [default: {FILE}]")] = None,
    show_config: Annotated[
        bool, typer.Option("--show-config", help="Print each setting and where it was set, and exit.")
    ] = False,
    as_json: AsJson = False,
    **flags: Any,
) -> None:
    """Run a server on which bots play each other on the database's ladders, until SIGTERM or Ctrl-C.

    A database without ladders gets one for each game.

    Each setting is a flag, an environment variable such as CUTPURSE_LOG_LEVEL, or a line of cutpurse.toml; the first
    that has a value counts. Once the database has a token (`cutpurse token create`), bots need one; until then every
    user of this machine may play. A second signal ends the wait for open matches.

    Example: cutpurse serve --db league.db --address 0.0.0.0:7777 --tls-cert cert.pem --tls-key key.pem
    """
    installed = parts_to_serve(SETTINGS)
    if installed.problems and not show_config:
        raise UsageError("; ".join(installed.problems))
    more = [setting for kind in installed.kinds for setting in kind.settings]
    given = {setting.name: _flag_value(setting, flags.get(setting.name)) for setting in (*SETTINGS, *more)}
    values = configured(given, os.environ, config, more)
    for name, meant in mistyped(os.environ, more):
        print_message(f"{name} is no setting, and is passed over; is {meant} meant?")
    if show_config:
        _show(values, as_json)
    else:
        check_values((*SETTINGS, *more), values)
        _serve(values, installed.kinds)


_ANNOTATIONS: Final[dict[Kind, Any]] = {
    "text": str | None,
    "path": Path | None,
    "database": str | None,
    "count": int | None,
    "seconds": float | None,
    "share": float | None,
    "number": float | None,
    "list": list[str] | None,
    "commas": str | None,
    "switch": bool | None,
}
_COMPLETIONS: Final[dict[str, Callable[..., list[str]]]] = {
    "BOTS": complete_bot_lists,
    "GAME": complete_games,
    "LADDER": complete_ladders,
}  # by what the flag takes


def _with_settings() -> None:
    """Give `serve` a flag for each setting; name parts that do not work in its help."""
    installed = parts_to_serve(SETTINGS)
    settings = [*SETTINGS, *(setting for kind in installed.kinds for setting in kind.settings)]
    own = inspect.signature(serve, eval_str=True)
    listed = [flag for flag in own.parameters.values() if flag.kind is not inspect.Parameter.VAR_KEYWORD]
    flags = [_flag(setting) for setting in settings]
    serve.__signature__ = own.replace(parameters=[*flags, *listed])  # type: ignore[attr-defined]
    for problem in installed.problems:
        serve.__doc__ = f"{str(serve.__doc__).rstrip()}\n\n    It does not start now: {problem}.\n    "


def _flag(setting: Setting) -> inspect.Parameter:
    """Return the flag of a setting, as typer reads it from the signature of a command."""
    option = typer.Option(
        setting.option,
        metavar=setting.metavar or None,
        help=f"{setting.help} [default: {text}]" if (text := setting.shown_default) else setting.help,
        autocompletion=complete_databases if setting.kind == "database" else _COMPLETIONS.get(setting.metavar),
        rich_help_panel=setting.group,
    )
    return inspect.Parameter(
        setting.name,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=None,
        annotation=Annotated[_ANNOTATIONS[setting.kind], option],
    )


def _flag_value(setting: Setting, given: Any) -> Any:
    """Return the value of a flag; None if it is not given."""
    match setting.kind, given:
        case "list", list():
            return tuple(given) or None
        case "commas", str():
            return tuple(part.strip() for part in given.split(",") if part.strip())
    return given


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


def _serve(values: dict[str, Value], kinds: Sequence[PartKind]) -> None:
    with needs("server"):
        from cutpurse.leaderboard.errors import InUse, LeaderboardError
        from cutpurse.server.hosting.listen_address import check_free, monitoring_address
        from cutpurse.server.logs import capture_library_logs, logger
        from cutpurse.server.open_files import raise_file_limit
    wanted = _wanted(values)
    parts = read_settings(kinds, values)
    if metrics := values["metrics"].value:
        check_free(monitoring_address(metrics))  # before the database is created
    if values["web"].value:
        with needs("web"):
            import cutpurse.page.app
            import cutpurse.page.serving  # noqa: F401  # only a check; the page is another process
    log = logger(sys.stderr, values["log_level"].value)
    capture_library_logs(log)
    raise_file_limit(log)
    for problem in GAMES.problems():
        log.warning("game left out", text=problem)
    try:
        _run(values, wanted, log, parts)
    except InUse as problem:
        raise CutpurseError(f"{problem}; is it another server?") from None
    except LeaderboardError as problem:
        raise CutpurseError(str(problem)) from None


def _run(
    values: dict[str, Value],
    wanted: LadderSelection,
    log: Logger,
    parts: Sequence[PartWithSettings],
) -> None:
    """Run the arena and its helper processes, until it is stopped by a signal."""
    from datetime import UTC, datetime

    from cutpurse.server.hosting.arena import serve as run
    from cutpurse.server.hosting.estimating import Estimating
    from cutpurse.server.hosting.house_processes import House
    from cutpurse.server.hosting.monitoring import Monitoring
    from cutpurse.server.hosting.open_arena import open_arena
    from cutpurse.server.hosting.page import Page
    from cutpurse.server.hosting.probes import pages
    from cutpurse.server.league.ladder_setup import played

    address, db, web = values["address"].value, values["db"].value, values["web"].value
    certificate = _certificate(values, log)
    with ExitStack() as stack:
        house = stack.enter_context(House(wanted.house, log)) if wanted.house else None
        page = stack.enter_context(Page(web, log)) if web else None
        opened = stack.enter_context(
            open_arena(
                address,
                db,
                lambda store: played(store, wanted, datetime.now(UTC), log),
                log,
                certificate=certificate,
                insecure=values["insecure"].value,
                house=house.token if house is not None else None,
                has_page=page is not None,
                watch_delay_s=values["watch_delay"].value,
                parts=parts,
                test_share=values["test_share"].value,
            )
        )
        is_own = opened.lobby.plays if opened.store.is_shared else (lambda ladder: True)
        estimating = stack.enter_context(Estimating(opened.store, log, is_own=is_own))
        if metrics := values["metrics"].value:
            monitoring = stack.enter_context(Monitoring(metrics, pages(opened), log))
            print_message(f"metrics at http://{monitoring.address}/metrics")
        whom = "bots with a token" if opened.asks_for_tokens else "every bot of this machine, without a token"

        def listening(bound: str) -> None:
            print_message(f"bots dial in at {bound}; results in {opened.store.database}")
            print_message(f"accepted: {whom}")
            for line in (line for part in opened.parts.values() for line in part.greeting()):
                print_message(line)
            estimating.begin(opened.arena)
            if house is not None:
                house.begin(opened.arena)
                print_message(f"house bots: {', '.join(wanted.house)}")
            if page is not None:
                page.begin(opened.arena, bound, [part.page() for part in opened.parts.values()])
                _tell_of_the_page(page)

        run_async(lambda: run(opened.arena, values["drain"].value, listening, ends_process=True))


def _tell_of_the_page(page: Page) -> None:
    from cutpurse.server.hosting.listen_address import is_local

    print_message(f"the page is at http://{page.address}/")
    if not is_local(page.address):
        print_message(REACHED)


def _wanted(values: dict[str, Value]) -> LadderSelection:
    """Return the ladders to play, and their house bots."""
    from cutpurse.cli.ladder_file import read_ladders
    from cutpurse.server.house_bots import check_house
    from cutpurse.server.league.ladder_setup import LadderSelection

    games = [game_named(name).words.game for name in values["games"].value]
    file: Path | None = values["ladders"].value
    defined = read_ladders(file) if file is not None else []
    house = check_house(values["house"].value, values["house"].where)
    return LadderSelection(games, defined, str(file), house)


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


_with_settings()
