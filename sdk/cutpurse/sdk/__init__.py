"""What a bot author calls: the bot class, its view and decision, local play, and play on a server."""

import cutpurse.wire  # noqa: F401  # first, as it sets how loud gRPC is
