"""Play on a server.

`client` keeps the connection, `client_session` has the state of the protocol without I/O, `bot_pool` has the bots of
the open matches.
"""

import os

# A bot may fork processes. By default gRPC's core restarts its threads in each of them, which killed one process in
# four (grpcio 1.83.2). Forked processes use no connection of ours, so they need none of these threads.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
