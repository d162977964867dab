"""The command line: `main` finds a command, `commands` has a module for each; the rest is what they share."""

import cutpurse.wire  # noqa: F401  # first, as it sets how loud gRPC is
