"""What is told of a program that failed is what went wrong, in whatever language its trace is."""

from __future__ import annotations

import pytest

from cutpurse.process.last_words import last_words

JAVA = """\
plays
Exception in thread "main" java.lang.Error: no plan
\tat Bot.plan(Bot.java:12)
\tat java.base/jdk.internal.reflect.NativeMethodAccessorImpl.invoke0(Native Method)
Caused by: java.lang.Error: no book
\tat Bot.read(Bot.java:1)
\t... 7 more
"""
GO = """\
panic: no plan

goroutine 1 [running]:
main.plan(0x101c00005e058?)
\t/bot/bot.go:3 +0x5f
main.main()
\t/bot/bot.go:4 +0x1e
exit status 2
"""
NODE = """\
resolve:873
  throw new ERR_MODULE_NOT_FOUND(base)
        ^

Error [ERR_MODULE_NOT_FOUND]: Cannot find package
    at packageResolve (node:internal/modules/esm/resolve:873:9)
    at #cachedDefaultResolve (node:internal/modules/esm/loader:657:25)
    at file:///bot/bot.mjs:12:3
    at ModuleJob._link (node:internal/modules/esm/module_job:168:49) {
  code: 'ERR_MODULE_NOT_FOUND'
}

Node.js v20.20.2
"""
PYTHON = """\
Traceback (most recent call last):
  File "/bot/bot.py", line 4, in <module>
    plan(3)
  File "/bot/bot.py", line 2, in plan
    raise ValueError("no plan")
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^
ValueError: no plan
"""
CPP = """\
terminate called after throwing an instance of 'std::runtime_error'
  what():  no plan
"""


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (JAVA, 'plays | Exception in thread "main" java.lang.Error: no plan | Caused by: java.lang.Error: no book'),
        (GO, "panic: no plan"),
        (
            NODE,
            "resolve:873 | throw new ERR_MODULE_NOT_FOUND(base) | Error [ERR_MODULE_NOT_FOUND]: Cannot find package",
        ),
        (PYTHON, 'File "/bot/bot.py", line 2, in plan | raise ValueError("no plan") | ValueError: no plan'),
        (CPP, "terminate called after throwing an instance of 'std::runtime_error' | what():  no plan"),
        ("one\n\ntwo\nthree\n  four\n", "two | three | four"),
        ("at ease (not at work)\n", "at ease (not at work)"),  # a program that says nothing else
        ("\n", ""),
        ("", ""),
    ],
)
def test_what_went_wrong_is_told_and_not_where(said: str, told: str) -> None:
    assert last_words(said.splitlines()) == told


def test_what_is_told_has_an_end() -> None:
    assert last_words(["x" * 1_000]) == "x" * 400
