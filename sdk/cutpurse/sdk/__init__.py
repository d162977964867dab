"""Everything a bot author uses: the bot class, local play and the command line. It knows no server code."""

import os

# Keeps the gRPC library from writing lines of its own to stderr. The library reads the variable when it is imported,
# and no module of this package imports it earlier. A value that the user has set stays.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
