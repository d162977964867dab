"""`cutpurse bot change`: the settings of a bot of yours, and which version of it the server runs."""

from __future__ import annotations

import re
from datetime import UTC
from pathlib import Path
from typing import Annotated, Final

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.commands.bot_list import bot_shown_row
from cutpurse.cli.commands.bot_submit import named, submission_row
from cutpurse.cli.completion import complete_ladders, complete_ranked_bots
from cutpurse.cli.league_options import Authority, Database, Server, open_league, utc_time
from cutpurse.engine.errors import UsageError
from cutpurse.process.terminal import print_json, print_lines, print_message
from cutpurse.wire.text import printable

__all__ = ["change"]

_EVENT: Final = re.compile(r"[0-9a-f]{12}(\.[0-9]{1,6})?")


def change(
    bot: Annotated[
        str,
        typer.Argument(
            metavar="BOT",
            help="Name of your bot; hosts name OWNER/BOT. --play, --retire and --publish take NAME:VERSION.",
            autocompletion=complete_ranked_bots,
        ),
    ],
    takes_people: Annotated[
        bool | None, typer.Option("--people/--no-people", help="Whether people on the page may pick it as an opponent.")
    ] = None,
    publishes_notes: Annotated[
        bool | None,
        typer.Option("--publish-notes/--keep-notes", help="Whether everybody sees its notes beside replays."),
    ] = None,
    forget: Annotated[
        str | None,
        typer.Option(
            metavar="LADDER",
            help="Empty its memory folder on this ladder; a process that waits for its match still has it once.",
            autocompletion=complete_ladders,
        ),
    ] = None,
    plays: Annotated[
        bool, typer.Option("--play", help="Let this accepted version play, in place of the current one.")
    ] = False,
    retires: Annotated[
        bool, typer.Option("--retire", help="Take it off its ladders; with a version, only if that version plays.")
    ] = False,
    licence: Annotated[
        str | None,
        typer.Option(
            "--publish", metavar="LICENCE", help="Let every owner fetch this version, under a licence such as MIT."
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="WHEN",
            help="With --publish: from a time such as 2027-01-31T18:00, or from the end of the event with this ID; a "
            "season is ID.NUMBER. [default: at once]",
        ),
    ] = None,
    withdraws: Annotated[
        bool, typer.Option("--withdraw", help="Publish this version no more; copies that others have stay theirs.")
    ] = False,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Change the settings of your bot or which submitted version plays, or show the settings.

    At first, people may pick it, unrated and never at its last free table, and only you see its notes. Published notes
    are those of all its matches that are over. Private ladders, and those that hide results or names, never show them.

    A bot that you submitted plays until you retire it; --play puts a version on its ladders again.

    Example: cutpurse bot change sneak --no-people --publish-notes

    Example: cutpurse bot change sneak --forget greed

    --publish shows the archive of an accepted version to every owner with a token, who may play it at home.

    Example: cutpurse bot change sneak:1 --play

    Example: cutpurse bot change sneak:3 --publish MIT --from 0123456789ab.1
    """
    if start is not None and licence is None:
        raise UsageError("--from is for --publish")
    if plays or retires or withdraws or licence is not None:
        settings = (takes_people, publishes_notes, forget, db)
        if plays + retires + withdraws + (licence is not None) > 1 or any(setting is not None for setting in settings):
            raise UsageError(
                "--play, --retire, --publish, --withdraw, or settings of the bot: one of them, and the first four take "
                "a server"
            )
        if withdraws or licence is not None:
            _publish_version(bot, licence or "", start, server, ca, as_json)
        else:
            _change_version(bot, plays, server, ca, as_json)
        return
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import bot_name, format_bot_name

    name = bot_name(bot)
    if name.version:
        raise UsageError(f"{bot!r:.80} names a version; settings are those of all versions: leave it out")
    declines_people = None if takes_people is None else not takes_people
    request = ladder_pb2.ChangeBotRequest(
        bot=name, declines_people=declines_people, publishes_notes=publishes_notes, forget_ladder=forget or ""
    )
    with open_league(server, ca, db) as league:
        changed = league.ChangeBot(request).bot
    if as_json:
        print_json(bot_shown_row(changed))
        return
    changed.bot.ClearField("version")
    full_name = format_bot_name(changed.bot)
    may = "may not" if changed.declines_people else "may"
    who = "everybody sees" if changed.publishes_notes else "only its owner sees"
    if forget is not None:
        print_message(f"{full_name}: its memory on {printable(forget, 64)} is empty")
    print_lines([f"{full_name}: people {may} pick it as an opponent", f"{full_name}: {who} its notes"])


def _publish_version(
    bot: str, licence: str, start: str | None, server: str | None, ca: Path | None, as_json: bool
) -> None:
    """Publish a submitted version from a time or the end of an event, or withdraw it, and say so."""
    from cutpurse.cli.ladder_file import moment_ms
    from cutpurse.wire.submission_client import submissions_at, version_named

    event = start if start is not None and _EVENT.fullmatch(start) else ""
    from_ms = moment_ms(start, "--from", UTC) if start is not None and not event else 0
    with submissions_at(server, ca) as submissions:
        submission = submissions.publish(*version_named(bot, needs_version=True), licence, from_ms, event)
    if as_json:
        print_json(submission_row(submission))
    elif not submission.licence:
        print_message(f"{named(submission)} is published no more")
    else:
        when = f" from {utc_time(from_ms)} on" if from_ms else f" from the end of event {event} on" if event else ""
        print_message(f"{named(submission)} is published{when}, under {printable(submission.licence, 64)}")


def _change_version(bot: str, plays: bool, server: str | None, ca: Path | None, as_json: bool) -> None:
    """Let a submitted version play, or take it off its ladders, and say so."""
    from cutpurse.wire.submission_client import submissions_at, version_named

    with submissions_at(server, ca) as submissions:
        if plays:
            submission = submissions.activate(*version_named(bot, needs_version=True))
        else:
            submission = submissions.retire(*version_named(bot))
    if as_json:
        print_json(submission_row(submission))
    elif not plays:
        print_message(f"{named(submission)} plays no more")
    elif submission.why:
        print_message(f"{named(submission)} is to play, and does not run now: {printable(submission.why, 400)}")
    else:
        print_message(f"{named(submission)} plays from now on")
