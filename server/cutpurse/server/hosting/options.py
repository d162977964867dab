"""The options of the gRPC server, and the purpose of each.

Names are those of gRPC's C core. Its defaults suit trusted services; bots are strangers.
"""

from __future__ import annotations

from cutpurse.server.limits import ServerLimits

__all__ = ["grpc_options"]


def grpc_options(limits: ServerLimits) -> list[tuple[str, int]]:
    """Return the options of `grpc.aio.server`."""
    return [
        # A second server on the same port would silently take half of the bots.
        ("grpc.so_reuseport", 0),
        # Announced in Welcome. The default is 4 MiB.
        ("grpc.max_receive_message_length", limits.most_bytes),
        # Catches a server error: envelopes and league answers are far smaller. This is what clients accept.
        ("grpc.max_send_message_length", max(4 * limits.envelope_bytes, 4 * 1024 * 1024)),
        # Identity only: no decompression bombs.
        ("grpc.compression_enabled_algorithms_bitset", 1),
        # Limits what a flood of requests and resets can start.
        ("grpc.max_concurrent_streams", limits.streams_per_connection),
        ("grpc.max_allowed_incoming_connections", limits.most_streams),
        # Between the soft and the hard limit gRPC refuses at random. Both are far below the defaults (8 and 16 KiB).
        ("grpc.max_metadata_size", 4_096),
        ("grpc.absolute_max_metadata_size", 8_192),
        # Clients that connect and send nothing. The default is two minutes.
        ("grpc.server_handshake_timeout_ms", _ms(limits.handshake_s)),
        # Clients that do not acknowledge the server's settings: until then the limits of metadata do not apply.
        ("grpc.http2.settings_timeout", _ms(limits.handshake_s)),
        # A peer that disappears is noticed within half a minute. Without the undocumented third option it would take a
        # minute longer. Decisions never wait for it: they have clocks.
        ("grpc.keepalive_time_ms", _ms(limits.keepalive_s)),
        ("grpc.keepalive_timeout_ms", _ms(limits.keepalive_timeout_s)),
        ("grpc.http2.ping_timeout_ms", _ms(limits.keepalive_timeout_s)),
        # A bot may ping every ten seconds; one that pings more often is cut off after two strikes.
        ("grpc.http2.min_ping_interval_without_data_ms", 9_000),
        ("grpc.http2.max_ping_strikes", 2),
        # Connections without a call.
        ("grpc.max_connection_idle_ms", _ms(limits.idle_s)),
        # The only way to end a stream whose bot never reads, as even its end waits for the bot. Bots resume.
        ("grpc.max_connection_age_ms", _ms(limits.connection_age_s)),
        ("grpc.max_connection_age_grace_ms", _ms(limits.connection_age_grace_s)),
        # Would show the sockets of other clients.
        ("grpc.enable_channelz", 0),
    ]


def _ms(seconds: float) -> int:
    return round(seconds * 1_000)
