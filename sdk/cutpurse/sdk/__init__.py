"""What a bot author uses: the bot class, local play and the command line; it knows no server code."""

import os

# The library of gRPC would write lines of its own on stderr beside those of whoever uses it. It looks when it is
# imported, and no module of this package imports it before this line. Whoever has set it keeps what he has set.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
