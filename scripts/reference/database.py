"""The page of the database's tables, made from the models and the comments behind their columns."""

from __future__ import annotations

import re
from typing import Any, Final

from sqlalchemy import Table
from sqlalchemy.dialects import sqlite

from cutpurse.leaderboard import models
from cutpurse.leaderboard.schema import newest_revision
from cutpurse.server.installed_parts import hooks_of_parts
from scripts.reference.comments import class_comments
from scripts.reference.page_parts import anchor, code, paragraphs, sentence, table

__all__ = ["models_by_table", "page"]

_PAGE: Final = """# Database

Look up a table or column of the database that `cutpurse serve --db` writes, in SQLite or PostgreSQL. This is schema
{revision}. Read it with any client, also while a server runs. Only the server may write it.

{tables}
Columns in *italics* may be null. Timestamps are UTC.

{sections}"""


def page() -> str:
    """Return the text of the page."""
    by_table = models_by_table()
    return _PAGE.format(
        revision=newest_revision(),
        tables=table(
            ("table", "one row is"),
            [(f"[`{name}`](#{anchor(name)})", _one_row(model)) for name, model in by_table.items()],
        ),
        sections="\n".join(_section(name, model) for name, model in by_table.items()),
    )


def models_by_table() -> dict[str, Any]:
    """Return the models by the name of their table: those of the module, then those of the parts."""
    hooks_of_parts()  # declares their tables
    kinds = [kind for kind in models.Base.__subclasses__() if kind.__module__.startswith("cutpurse.")]
    kinds.sort(key=lambda kind: (kind.__module__ != models.__name__, kind.__module__))  # not as they were imported
    return {str(kind.__tablename__): kind for kind in kinds}


def _one_row(model: Any) -> str:
    return re.split(r"(?<=\.) |; |, which |, with ", paragraphs(model.__doc__)[0])[0].rstrip(".") + "."


def _section(name: str, model: Any) -> str:
    comments = class_comments(model)
    rows = [
        (
            f"*{code(column.name)}*" if column.nullable else code(column.name),
            column.type.compile(sqlite.dialect()),
            _key(model.__table__, column),
            sentence(comments[column.name]),
        )
        for column in model.__table__.columns
    ]
    unique = [
        ", ".join(code(column.name) for column in constraint.columns)
        for constraint in sorted(model.__table__.constraints, key=lambda item: str(item.name))
        if constraint.__visit_name__ == "unique_constraint" and len(constraint.columns) > 1
    ]
    parts = [
        f"## {name}\n",
        *[f"{text}\n" for text in paragraphs(model.__doc__)],
        table(("column", "type", "key", "meaning"), rows),
    ]
    parts += [f"Unique together: {columns}.\n" for columns in unique]
    return "\n".join(parts)


def _key(of: Table, column: Any) -> str:
    keys = ["primary"] if column.primary_key else []
    keys += ["unique"] if column.unique else []
    keys += sorted(f"[`{key.column.table.name}`](#{anchor(key.column.table.name)})" for key in column.foreign_keys)
    return ", ".join(dict.fromkeys(keys))
