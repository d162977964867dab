"""Online: a bot plays on a server.

`client` keeps the connection and `session` what is said on it, without I/O; `remote` has the bots of the open matches.
"""

import os

# A bot may fork processes. By default gRPC's core restarts its threads in each of them, and one process in four died of
# it (grpcio 1.83.2). They use no connection of ours, so they need none of these threads.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
