"""What servers and bots share: messages in both directions, errors, addresses, files, and the questions of a league.

It knows neither the SDK nor the server.
"""

import os

# Keeps the gRPC library from writing lines of its own to stderr. The library reads the variable when it is imported,
# and no module of this package imports it earlier. A value that the user has set stays.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
