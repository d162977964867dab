"""The page of all commands, made from the command line's own help."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from typer.main import get_command

from cutpurse.cli import progress
from cutpurse.cli.main import app
from cutpurse.wire import server_address
from scripts.reference.comments import module_comments
from scripts.reference.page_parts import anchor, code, sentence, table

__all__ = ["Option", "commands", "environment", "options", "page"]

MANY: Final = 5  # commands that have an option of the same meaning, from which on it is listed once
_DEFAULT: Final = re.compile(r"\s*\[default: (.*?)\]")
_PAGE: Final = """# Command line

Look up a command or an option. `cutpurse COMMAND --help` prints the same. Results go to stdout, messages to stderr.
See also [exit codes](exit_codes.md).

{commands}
## Options of many commands

{shared}
An option with one value can be given once. `--debug` shows tracebacks and may stand in any position.
`cutpurse --install-completion` installs completion for your shell.

## Environment variables

{environment}
A server has a variable for each of its [settings](configuration.md). `NO_COLOR` turns off colour.

{sections}"""


class Option(NamedTuple):
    """An argument or option of a command, as the page shows it."""

    form: str  # as it is typed: "--seed S"
    text: str
    default: str


def page() -> str:
    """Return the text of the page."""
    entries = list(commands())
    shared = _shared(command for _, command in entries)
    leaves = [(words, command) for words, command in entries if not hasattr(command, "commands")]
    return _PAGE.format(
        commands=table(
            ("command", "what it does"),
            [(f"[`{words}`](#{anchor(words)})", _paragraphs(command)[0]) for words, command in leaves],
        ),
        shared=_options(shared),
        environment=table(("variable", "meaning"), [(code(name), text) for name, text in environment()]),
        sections="\n".join(_section(words, command, shared) for words, command in leaves),
    )


def commands() -> Iterator[tuple[str, Any]]:
    """Yield each command and group of commands with its words: "cutpurse bot run"."""

    def below(words: str, command: Any) -> Iterator[tuple[str, Any]]:
        yield words, command
        for name in getattr(command, "commands", ()):
            yield from below(f"{words} {name}", command.commands[name])

    yield from below("cutpurse", get_command(app))


def options(command: Any) -> list[Option]:
    """Return the arguments and options of a command that its help shows."""
    return [_option(param) for param in command.params if not getattr(param, "hidden", False)]


def environment() -> list[tuple[str, str]]:
    """Return the environment variables of bots and commands, each with its meaning."""
    return [
        (getattr(module, name), sentence(comment))
        for module in (server_address, progress)
        for name, comment in module_comments(module).items()
        if name.endswith("_VARIABLE")
    ]


def _shared(all_commands: Iterable[Any]) -> list[Option]:
    """Return the options that many commands have; of options with one name, only the most frequent."""
    counts = Counter(option for command in all_commands for option in options(command) if option.form.startswith("`-"))
    shared: dict[str, Option] = {}
    for option, count in counts.most_common():
        if count >= MANY:
            shared.setdefault(option.form, option)
    return sorted(shared.values())


def _option(param: Any) -> Option:
    text = param.help or ""
    given = _DEFAULT.search(text)
    default = given[1] if given else ""
    if not given and param.default not in (None, False, "") and getattr(param, "show_default", True):
        default = code(f"{param.default}")
    if param.param_type_name == "argument":
        return Option(code(param.metavar or param.name.upper()), _DEFAULT.sub("", text), default)
    names = ", ".join(code(name) for name in [*param.opts, *param.secondary_opts])
    metavar = "" if param.is_flag else param.metavar or "TEXT"
    form = f"{names[:-1]} {metavar}`" if metavar else names
    return Option(form, _DEFAULT.sub("", text), default)


def _options(rows: list[Option]) -> str:
    return table(("option", "meaning", "default"), rows)


def _section(words: str, command: Any, shared: list[Option]) -> str:
    own = [option for option in options(command) if option not in shared]
    others = [option.form.split()[0].strip("`") for option in options(command) if option in shared]
    usage = " ".join([words, *[_usage(param) for param in command.params if param.param_type_name == "argument"]])
    parts = [f"## {words}\n", f"```\n{usage}{' [OPTION...]' if own or others else ''}\n```\n"]
    parts += [f"{text}\n" for text in _paragraphs(command)]
    if own:
        parts.append(_options(own))
    if others:
        listed = ", ".join(code(name) for name in others)
        parts.append(f"{'Also' if own else 'Options:'} {listed}: see [above](#options-of-many-commands).\n")
    return "\n".join(parts)


def _usage(param: Any) -> str:
    name = param.metavar or param.name.upper()
    return name if param.required or name.startswith("[") else f"[{name}]"


def _paragraphs(command: Any) -> list[str]:
    """Return the paragraphs of a command's help, each in one line; examples become code."""
    parts = [" ".join(part.split()) for part in (command.help or "").split("\n\n")]
    return [re.sub(r"^Example: (.*)$", r"Example: `\1`", part) for part in parts]
