"""The places where the SQL of SQLite and of PostgreSQL differs.

Statements of SQLAlchemy are compiled for either. `driver_sql` translates statements that are written by hand, in the
SQL of SQLite. Hundreds of keys are passed as one JSON array, because one parameter per key is slow. This module knows
no table.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Select,
    String,
    TableValuedAlias,
    bindparam,
    literal_column,
    select,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

__all__ = ["driver_sql", "integer", "integer_at", "json_values", "listed_integers", "listed_texts"]

SQLITE: Final = "sqlite"
_JSON_EACH: Final = re.compile(r"json_each\((\?|:\w+)\)")
_NAMED: Final = re.compile(r":(\w+)")


class _JsonEach(FunctionElement[Any]):
    """The elements of a JSON array as rows with a column `value`."""

    name = "json_each"
    inherit_cache = True


class _Integer(FunctionElement[int]):
    """An element of a JSON array as an integer; SQLite knows its type already."""

    name = "integer"
    inherit_cache = True
    type = BigInteger()


class _IntegerAt(FunctionElement[int]):
    """The integer at an index of a JSON array."""

    name = "integer_at"
    inherit_cache = True
    type = BigInteger()


@compiles(_JsonEach)
def _json_each(element: _JsonEach, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **options)})"


@compiles(_JsonEach, "postgresql")
def _json_each_on_postgresql(element: _JsonEach, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_array_elements_text(CAST({compiler.process(element.clauses, **options)} AS JSON))"


@compiles(_Integer)
def _integer(element: _Integer, compiler: SQLCompiler, **options: Any) -> str:
    return compiler.process(element.clauses, **options)


@compiles(_Integer, "postgresql")
def _integer_on_postgresql(element: _Integer, compiler: SQLCompiler, **options: Any) -> str:
    return f"CAST({compiler.process(element.clauses, **options)} AS BIGINT)"


@compiles(_IntegerAt)
def _integer_at(element: _IntegerAt, compiler: SQLCompiler, **options: Any) -> str:
    array, index = (compiler.process(clause, **options) for clause in element.clauses)
    return f"json_extract({array}, '$[{index}]')"


@compiles(_IntegerAt, "postgresql")
def _integer_at_on_postgresql(element: _IntegerAt, compiler: SQLCompiler, **options: Any) -> str:
    array, index = (compiler.process(clause, **options) for clause in element.clauses)
    return f"CAST(CAST({array} AS JSON) ->> {index} AS BIGINT)"


def json_values(parameter: str) -> TableValuedAlias:
    """Return the elements of the JSON array in a parameter, as a table with a column `value`."""
    return _JsonEach(bindparam(parameter, type_=String())).table_valued("value")


def integer(value: ColumnElement[Any]) -> ColumnElement[int]:
    """Return an element of `json_values` as an integer."""
    return _Integer(value)


def integer_at(value: ColumnElement[Any], index: int) -> ColumnElement[int]:
    """Return an integer of an element of `json_values` that is an array itself; null stays null."""
    return _IntegerAt(value, literal_column(str(index)))


def listed_integers(parameter: str) -> Select[Any]:
    """Select the integers of the JSON array in a parameter."""
    return select(_Integer(json_values(parameter).c.value))


def listed_texts(parameter: str) -> Select[Any]:
    """Select the texts of the JSON array in a parameter."""
    return select(json_values(parameter).c.value)


def driver_sql(connection: Connection, statement: str) -> str:
    """Translate a statement for the driver of a connection.

    Args:
        connection: Connection that will execute it.
        statement: SQL of SQLite with parameters `?` or `:name`. `json_each` has a parameter and lists integers. A
            condition after CROSS JOIN makes SQLite keep the order of the join; PostgreSQL plans it as any join.
    """
    return statement if connection.dialect.name == SQLITE else _for_postgresql(statement)


@cache
def _for_postgresql(statement: str) -> str:
    array = r"(SELECT CAST(value AS BIGINT) AS value FROM json_array_elements_text(CAST(\1 AS JSON)))"
    statement = _JSON_EACH.sub(array, statement).replace("CROSS JOIN", "JOIN")
    return _NAMED.sub(r"%(\1)s", statement).replace("?", "%s")
