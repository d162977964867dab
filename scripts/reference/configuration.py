"""The page of all settings in files: the server's, ladders, tournaments and the manifests of bots."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cutpurse.cli import ladder_file, season_file
from cutpurse.experiments.tournament import server_file, tournament_file
from cutpurse.server.access import sign_in_settings
from cutpurse.server.hosting.configuration import CONFIG_VARIABLE, FILE, SETTINGS
from cutpurse.wire import manifest
from cutpurse.wire.toml_file import FileKey
from scripts.reference import cli
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

`cutpurse tournament run FILE` reads a tournament.

{tournament}
Each bot is a text, as in `cutpurse play`, or `{{ name = "mine", bot = "my_bot.py" }}`. Paths start at the file's
folder.

`cutpurse tournament start --from FILE` reads a tournament that a server plays.

{server_tournament}

## Seasons

`cutpurse season plan FILE` and `season start FILE` read [seasons](../how-to/seasons.md). All keys of a
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
    (serve,) = [command for words, command in cli.commands() if words == "cutpurse serve"]
    flags = {option.form.split()[0].strip("`"): option for option in cli.options(serve)}
    return _PAGE.format(
        file=FILE,
        variable=CONFIG_VARIABLE,
        settings=table(
            ("flag", f"key in `{FILE}`", "meaning", "default"),
            [
                (flags[one.option].form, code(one.name), flags[one.option].text, flags[one.option].default)
                for one in SETTINGS
            ],
        ),
        ladder=_keys(ladder_file.KEYS),
        sign_in=_keys(sign_in_settings.KEYS),
        tournament=_keys(tournament_file.KEYS),
        server_tournament=_keys(server_file.KEYS),
        season=_keys(season_file.KEYS),
        manifest_file=manifest.MANIFEST,
        manifest=_keys(manifest.KEYS),
    )


def _keys(keys: Iterable[FileKey]) -> str:
    return table(("key", "meaning", "default"), [(code(key.name), key.text, key.default or "required") for key in keys])
