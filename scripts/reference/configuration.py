"""The page of all settings in files: the server's, ladders, tournaments and the manifests of bots."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cutpurse.cli import ladder_file, season_file
from cutpurse.lab.tournament import tournament_file
from cutpurse.server.hosting.configuration import CONFIG_VARIABLE
from cutpurse.server.hosting.part import parts_to_serve
from cutpurse.server.parts.sign_in import sign_in_settings
from cutpurse.server.settings import FILE, SETTINGS, Setting
from cutpurse.wire import manifest
from cutpurse.wire.toml_file import FileKey
from scripts.reference.page_parts import code, table

__all__ = ["page"]

_PAGE: Final = """# Configuration

Look up a setting of a server, or a key of a file that Cutpurse reads. Unknown names are refused.

## The server's settings

Each setting comes from its flag, else its environment variable, else the file `{file}`, else its default. The
variable is the key in capitals after `CUTPURSE_`: `CUTPURSE_LOG_LEVEL=debug`, `CUTPURSE_GAMES=greed,szmal`,
`CUTPURSE_INSECURE=true`. The file is in the working folder, or named by `--config` or `{variable}`. Its paths are
relative to its folder. `cutpurse serve --show-config` prints each setting and where it was set.

{settings}
## Ladders

`cutpurse serve --ladders FILE` and `cutpurse ladder create --from FILE` read ladders, each in a `[[ladder]]` table.
Game, seats, settings, clock and boards of a ladder never change. The other keys are its terms.

{ladder}
## Tournaments

`cutpurse tournament run FILE` and `cutpurse event start FILE` read the same file.

{tournament}
Each bot is a text, as in `cutpurse play`, or `{{ name = "mine", bot = "my_bot.py" }}`. Paths start at the file's
folder. On a ladder, bots are called `owner/name` or `owner/name:version`.

## Seasons

`cutpurse event start FILE` reads [seasons](../how-to/events.md#run-seasons). All keys of a
[ladder](#ladders) but `frozen`, `hosted`, `max_bots`, `people` and `title` are those of each division. Divisions are
tables `[[division]]`, the first one first.

{season}
## Signing in

`cutpurse serve --sign-in FILE` reads how people sign in with OpenID Connect. Paths start at the file's folder.

{sign_in}
## Manifests of bots

`cutpurse bot submit` reads `{manifest_file}`.

{manifest}"""


def page() -> str:
    """Return the text of the page."""
    of_parts = [setting for kind in parts_to_serve(SETTINGS).kinds for setting in kind.settings]
    return _PAGE.format(
        file=FILE,
        variable=CONFIG_VARIABLE,
        settings=_settings((*SETTINGS, *of_parts)),
        ladder=_keys(ladder_file.KEYS),
        sign_in=_keys(sign_in_settings.KEYS),
        tournament=_keys(tournament_file.KEYS),
        season=_keys(season_file.KEYS),
        manifest_file=manifest.MANIFEST,
        manifest=_keys(manifest.KEYS),
    )


def _settings(settings: Iterable[Setting]) -> str:
    """Return a table of the settings for each group of them."""
    groups: dict[str, list[Setting]] = {}
    for setting in settings:
        groups.setdefault(setting.group, []).append(setting)
    return "\n".join(f"### {title}\n\n{_group(members)}" for title, members in groups.items())


def _group(settings: Iterable[Setting]) -> str:
    return table(
        ("flag", f"key in `{FILE}`", "meaning", "default"),
        [
            (
                code(f"{setting.option} {setting.metavar}".strip()),
                code(setting.name),
                setting.help,
                setting.shown_default,
            )
            for setting in settings
        ],
    )


def _keys(keys: Iterable[FileKey]) -> str:
    return table(
        ("key", "meaning", "default"), [(code(key.name), _meaning(key), key.default or "required") for key in keys]
    )


def _meaning(key: FileKey) -> str:
    return f"{key.text}; only `{key.command}`" if key.command else key.text
