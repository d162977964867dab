"""An MCP server that says what was wrong with a call in words of this project. This module knows no tool."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any, Final

from cutpurse.wire.errors import needs
from cutpurse.wire.version import VERSION

with needs("llm"):
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from pydantic import BeforeValidator, Field, ValidationError
    from pydantic_core import PydanticCustomError

__all__ = ["Count", "ToolServer", "not_bool"]

# What an argument must be, by the library's name for the problem, or the beginning of the name.
KINDS: Final = {
    "int": "a whole number",
    "string": "a text",
    "string_unicode": "text of valid Unicode",
    "bool": "true or false",
    "list": "a list of texts",
    "dict": "an object of texts",
    "greater": "{ge} or more",
    "less": "at most {le}",
}


def not_bool(value: object) -> object:
    """Return the value.  Raises PydanticCustomError for true and false."""
    if isinstance(value, bool):
        raise PydanticCustomError("int_type", "a bool")  # the library takes true for 1
    return value


Count = Annotated[int, BeforeValidator(not_bool), Field(ge=0, le=2**53)]


class ToolServer(MCPServer[Any]):
    """An MCP server whose errors are lines of this project, with what the client needs to go on."""

    def __init__(
        self,
        instructions: str,
        tools: tuple[Callable[..., Any], ...],
        what_is_open: Callable[[dict[str, Any]], str] = lambda arguments: "",
    ) -> None:
        """Create a server.

        Args:
            instructions: What a model reads first.
            tools: The tools; a model reads their docstrings.
            what_is_open: Returns, by the arguments of a call that failed, a text to append to the error.
        """
        super().__init__(
            "cutpurse", instructions=instructions, version=VERSION, log_level="WARNING", warn_on_duplicate_tools=True
        )
        self._what_is_open = what_is_open
        for tool in tools:
            self.add_tool(tool)

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool.  Raises ToolError, which the client gets as the result of the call."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as problem:
            if isinstance(problem.__cause__, ValidationError):
                text = _argument_problem(problem.__cause__)
            elif type(problem.__cause__) is ToolError:  # raised by the tool
                text = str(problem.__cause__)
            else:
                raise
        raise ToolError(text + self._what_is_open(arguments))


def _argument_problem(problem: ValidationError) -> str:
    """Describe the first argument that is missing or has a wrong value."""
    error = problem.errors(include_url=False)[0]
    name, kind = ".".join(map(str, error["loc"])), error["type"]
    if kind == "missing":
        return f"{name} is missing"
    try:
        value = json.dumps(error["input"])[:60]
    except ValueError:
        value = "a number with thousands of digits"
    must_be = KINDS.get(kind) or KINDS.get(kind.partition("_")[0], "something else")
    return f"{name} is {value}; it must be {must_be.format(**error.get('ctx', {}))}"
