"""The file by which people sign in at a provider: what it says, what is refused, and where its secret may be."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cutpurse.cli.main import app
from cutpurse.engine.errors import CutpurseError
from cutpurse.server.parts.sign_in.sign_in_settings import SECRET_VARIABLE, SignInSettings, read_sign_in

LEAST = """
name = "School"
issuer = "https://login.school.example/"
client_id = "league"
page = "https://League.school.example/"
"""
MORE = """
client_secret_file = "openid.secret"
scopes = ["email", "roles"]
owner_claim = "email"
email_domains = ["@School.example"]
groups_claim = "roles"
groups = ["a", "b"]
host_groups = ["c"]
new_owners = false
session_hours = 8
token_days = 0
"""


def read(folder: Path, text: str, **environment: str) -> SignInSettings:
    file = folder / "sign_in.toml"
    file.write_text(text, encoding="utf-8")
    return read_sign_in(file, environment)


def secret_file(folder: Path, text: bytes = b"quiet\n", mode: int = 0o600) -> Path:
    file = folder / "openid.secret"
    file.write_bytes(text)
    file.chmod(mode)
    return file


def test_four_keys_are_enough(tmp_path: Path) -> None:
    settings = read(tmp_path, LEAST)
    assert settings == SignInSettings(
        "School", "https://login.school.example/", "league", "https://league.school.example"
    )
    assert settings.callback == "https://league.school.example/sign-in/callback"
    assert (settings.new_owners, settings.host_groups, settings.client_secret) == (True, (), "")


def test_every_key_counts(tmp_path: Path) -> None:
    secret_file(tmp_path)
    settings = read(tmp_path, LEAST + MORE)
    assert settings.client_secret == "quiet"
    assert "quiet" not in repr(settings)
    assert (settings.scopes, settings.owner_claim, settings.email_domains) == (
        ("email", "roles"),
        "email",
        ("school.example",),
    )
    assert (settings.groups_claim, settings.groups, settings.host_groups) == ("roles", ("a", "b"), ("c",))
    assert (settings.new_owners, settings.session_hours, settings.token_days) == (False, 8, 0)


def test_the_secret_of_the_environment_goes_first(tmp_path: Path) -> None:
    secret_file(tmp_path)
    assert read(tmp_path, LEAST + MORE, **{SECRET_VARIABLE: " other\n"}).client_secret == "other"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ('issuer = ""', "has no issuer"),
        ('issuer = "http://login.school.example"', "issuer is 'http://login.school.example'; it is an address https:"),
        ('issuer = "https://ann@login.example"', "it is an address https://..., or http:// on this machine"),
        ('issuer = "https://login.example/?tenant=1"', "it is an address https://..., or http:// on this machine"),
        ('page = "https://school.example/league"', "it is the root of a host, without a path"),
        ('page = "league.example"', "page is 'league.example'; it is an address https://"),
        ("name = 7", "name is 7; it is a text"),
        ('name = "two\\nlines"', "it is a text"),
        ('groups = "all"', "groups is 'all'; it is a list of texts"),
        ("groups = [1]", "groups is [1]; it is a list of texts"),
        ('scopes = ["two words"]', "scopes has a scope that is none; one has no space and no quote"),
        ("session_hours = 0", "session_hours is 0; it is a number from 1 to 720"),
        ("session_hours = true", "session_hours is True; it is a number"),
        ("token_days = 9999", "token_days is 9999; it is a number from 0 to 3,650"),
        ('new_owners = "yes"', "new_owners is 'yes'; it is true or false"),
        ('client_secret = "quiet"', "there is no key 'client_secret'; is client_secret_file meant?"),
        ('client_secret_file = "nowhere"', "nowhere cannot be read: No such file or directory"),
    ],
)
def test_a_wrong_value_is_named_with_its_key(tmp_path: Path, change: str, said: str) -> None:
    key = change.partition(" ")[0]
    kept = "\n".join(line for line in LEAST.splitlines() if not line.startswith(f"{key} "))
    with pytest.raises(CutpurseError) as refused:
        read(tmp_path, f"{kept}\n{change}\n")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        (b"quiet", 0o644, "others can read the secret in"),
        (b"", 0o600, "is empty, too long, or of several lines"),
        (b"quiet\nquiet\n", 0o600, "is empty, too long, or of several lines"),
        (b"q" * 1_050, 0o600, "is empty, too long, or of several lines"),
        (b"\xff", 0o600, "is no text"),
    ],
)
def test_a_secret_that_is_none_or_no_secret_is_refused(tmp_path: Path, text: bytes, mode: int, said: str) -> None:
    secret_file(tmp_path, text, mode)
    with pytest.raises(CutpurseError) as refused:
        read(tmp_path, LEAST + MORE)
    assert said in str(refused.value)
    assert "quiet" not in str(refused.value)


def test_serve_needs_a_token_before_people_sign_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else everybody may play under any name, and a session would be worth nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sign_in.toml").write_text(LEAST, encoding="utf-8")
    run = CliRunner().invoke(app, ["serve", "--address", "127.0.0.1:0", "--sign-in", "sign_in.toml"])
    assert run.exit_code == 2
    assert (
        "--sign-in needs tokens: cutpurse.db has none yet, so everybody may play without signing in. Make one first:"
        in run.stderr
    )
