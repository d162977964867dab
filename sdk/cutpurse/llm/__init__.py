"""Language models at the table.

    from cutpurse.llm import LlmBot, Reply

    class Bot(LlmBot):
        def __init__(self) -> None:
            super().__init__(ask)           # your function: messages in, a Reply out

`LlmBot` needs no package besides cutpurse. `cutpurse mcp`, a seat for any MCP client, needs the extra `llm`. Nothing
here knows a particular game.
"""

from cutpurse.llm.budget import Budget, Limit, Usage
from cutpurse.llm.chat_completion import read_completion
from cutpurse.llm.llm_bot import LlmBot
from cutpurse.llm.model_call import Outage, Reply

__all__ = ["Budget", "Limit", "LlmBot", "Outage", "Reply", "Usage", "read_completion"]
