"""Which texts are addresses of PostgreSQL, and what of them may be shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutpurse.leaderboard.address import is_postgresql, without_password


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://league@db.example/league", None),
        ("postgres://db.example", None),
        ("POSTGRESQL://ann:s3cret@h/x", "postgresql://ann@h/x"),
        ("postgresql://ann:s3@cret@h/x", "postgresql://ann@h/x"),
        ("postgresql://ann:s3cret@h/x?password=s3cret&sslmode=require", "postgresql://ann@h/x?sslmode=require"),
        ("postgresql://h/x?pass%77ord=s3cret", "postgresql://h/x"),
        ("postgresql://h/x?sslpassword=s3cret&connect_timeout=9", "postgresql://h/x?connect_timeout=9"),
        ("postgresql:///league?host=/run/postgresql", None),
        ("host=db.example dbname=league", None),
        ("host = db.example password = s3cret dbname = league", "host = db.example dbname = league"),
        (r"user=ann password='s3 \' c=ret' host=h", "user=ann host=h"),
        ("password=s3cret host=h", "host=h"),
        ("password=s3cret", ""),
        ("host=h password='s3cret", "host=h"),
        ("host=h password=s3 cret", "host=h"),
        ("service=league sslpassword=s3cret", "service=league"),
        ("host=h password=postgresql://s3cret", "host=h"),
    ],
)
def test_an_address_of_postgresql(address: str, shown: str | None) -> None:
    assert is_postgresql(address)
    assert without_password(address) == (address if shown is None else shown)


@pytest.mark.parametrize(
    "name", ["league.db", "a=b.db", "my host=1.db", "postgresql", "C:/league.db", "ghost=x", "mysql://h/x"]
)
def test_a_file_or_another_address(name: str) -> None:
    assert not is_postgresql(name)
    assert not is_postgresql(Path(name))
    assert without_password(name) == name


@pytest.mark.parametrize("mistyped", ["postgre://ann:s3cret@h/x", "hots=h password=s3cret"])
def test_a_mistyped_address_shows_no_password_either(mistyped: str) -> None:
    assert not is_postgresql(mistyped)
    assert "s3cret" not in without_password(mistyped)
