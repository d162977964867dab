"""The page of exit codes and errors, made from `cutpurse.wire.errors`."""

from __future__ import annotations

import inspect

from cutpurse.engine import errors as engine_errors
from cutpurse.engine.errors import CutpurseError
from cutpurse.wire import errors
from scripts.reference.comments import module_comments
from scripts.reference.page_parts import code, first_paragraph, sentence, table

__all__ = ["page"]

_PAGE = """# Exit codes

Look up what an exit code of `cutpurse` means, and which error leads to it. Every error is one line on stderr.

{codes}
From Python, the same problems are exceptions. All derive from `CutpurseError`, so one `except` catches them:

{errors}"""


def page() -> str:
    """Return the text of the page."""
    numbers = [
        (str(number), sentence(text))
        for name, text in module_comments(errors).items()
        if isinstance(number := getattr(errors, name), int)
    ]
    kinds = [
        kind
        for module in (engine_errors, errors)
        for kind in vars(module).values()
        if inspect.isclass(kind) and issubclass(kind, CutpurseError) and kind.__module__ == module.__name__
    ]
    return _PAGE.format(
        codes=table(("code", "meaning"), [("0", "Done."), *numbers]),
        errors=table(
            ("exception", "kind of", "code", "meaning"),
            [
                (
                    code(f"{kind.__module__}.{kind.__name__}"),
                    code(kind.__mro__[1].__name__),
                    str(errors.exit_code(kind())),
                    first_paragraph(kind.__doc__),
                )
                for kind in kinds
            ],
        ),
    )
