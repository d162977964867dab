"""The page of the database's tables, made from the models and the comments behind their columns."""

from __future__ import annotations

import re
from typing import Any, Final

from sqlalchemy import Table
from sqlalchemy.dialects import sqlite

from cutpurse.leaderboard import models
from cutpurse.leaderboard.schema import newest_revision
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
    found = models_by_table()
    return _PAGE.format(
        revision=newest_revision(),
        tables=table(
            ("table", "one row is"),
            [(f"[`{name}`](#{anchor(name)})", _one_row(model)) for name, model in found.items()],
        ),
        sections="\n".join(_section(name, model) for name, model in found.items()),
    )


def models_by_table() -> dict[str, Any]:
    """Return the models by the name of their table, in the order of the module."""
    rows = [kind for kind in vars(models).values() if isinstance(kind, type) and kind.__module__ == models.__name__]
    return {str(kind.__tablename__): kind for kind in rows if issubclass(kind, models.Base) and kind is not models.Base}


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
        for constraint in sorted(model.__table__.constraints, key=lambda one: str(one.name))
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
