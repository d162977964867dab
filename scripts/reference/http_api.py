"""The page of the HTTP API, made from its calls."""

from __future__ import annotations

from typing import Any, Final

from cutpurse.page.api.description import FILE_PATH, openapi
from cutpurse.page.api.endpoints import CALLS, PREFIX, Call
from scripts.reference.page_parts import code, table

__all__ = ["page"]

_PAGE: Final = """# HTTP API

Read a league as JSON, without a token and from any web page (CORS). `cutpurse serve --web` and `cutpurse web` serve
it below `{prefix}`:

```
$ curl http://127.0.0.1:7780{prefix}/ladders/greed/rankings
{{"rankings":[],"next":null,"estimated":0,"boards":0,"placed":0}}
```

{calls}
`{prefix}{file_path}` has the file of a match. `{prefix}/openapi.json` describes all calls and the fields of their
responses.

* **Names** of fields are those of `ladder.proto`. Timestamps are milliseconds since 1970, or 0 if there is none.
  Bytes are hex. Missing values are null.
* **Long lists** come in pages of `limit`. `next`, and the header `Link`, have the address of the next page; it is
  null on the last.
* **Caching**: each response has an `ETag`, and `Cache-Control` with the seconds listed above.
* **Errors** are `application/problem+json` (RFC 9457):

{statuses}
For spreadsheets, use `/ladders/LADDER/rankings.csv` and `/ladders/LADDER/matches.csv` (UTF-8). A name that looks like
a formula starts with an apostrophe. `/healthz` answers 200 while the page lives.

{sections}"""


def page() -> str:
    """Return the text of the page."""
    described: dict[str, Any] = openapi()
    (first, *_) = described["paths"].values()
    refused = {status: response for status, response in first["get"]["responses"].items() if status != "200"}
    return _PAGE.format(
        prefix=PREFIX,
        file_path=FILE_PATH,
        calls=table(
            ("call", "response", "cached for"),
            [(code(call.path), code(call.answer.name), f"{call.keep_s} s") for call in CALLS],
        ),
        statuses=table(
            ("status", "meaning"), [(status, response["description"]) for status, response in refused.items()]
        ),
        sections="\n".join(_section(call) for call in CALLS if call.parameters),
    )


def _section(call: Call) -> str:
    rows = [(code(parameter.name), _values(parameter.schema), parameter.text) for parameter in call.parameters]
    return "\n".join([f"## {call.path}\n", f"{call.text}\n", table(("parameter", "values", "meaning"), rows)])


def _values(schema: dict[str, Any]) -> str:
    match schema["type"]:
        case "boolean":
            return "true or false"
        case "integer" if schema["maximum"] < 10**6:
            return f"0 to {schema['maximum']:,}"
        case "integer":
            return "number"
        case _:
            return "text"
