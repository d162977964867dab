"""How gRPC's server is set up: what each option is for.

Names are those of gRPC's C core. Its defaults suit services among friends; bots are strangers.
"""

from __future__ import annotations

from cutpurse.server.limits import ServerLimits

__all__ = ["grpc_options"]


def grpc_options(limits: ServerLimits) -> list[tuple[str, int]]:
    """Return the options of `grpc.aio.server`."""
    return [
        # A second server on the same port would take half of the bots without a word.
        ("grpc.so_reuseport", 0),
        # Told in Welcome. The default is 4 MiB.
        ("grpc.max_receive_message_length", limits.most_bytes),
        # Catches a fault of our own: envelopes and what is told of a league stop well before. What clients take.
        ("grpc.max_send_message_length", max(4 * limits.envelope_bytes, 4 * 1024 * 1024)),
        # Identity only: no decompression bombs.
        ("grpc.compression_enabled_algorithms_bitset", 1),
        # Bounds what a flood of requests and resets can start.
        ("grpc.max_concurrent_streams", limits.streams_per_connection),
        ("grpc.max_allowed_incoming_connections", limits.most_streams),
        # Between the soft and the hard limit gRPC refuses at random; ours are far below the defaults (8 and 16 KiB).
        ("grpc.max_metadata_size", 4_096),
        ("grpc.absolute_max_metadata_size", 8_192),
        # Who connects and says nothing. The default is two minutes.
        ("grpc.server_handshake_timeout_ms", _ms(limits.handshake_s)),
        # Who does not acknowledge our settings: until then the limits of metadata do not hold.
        ("grpc.http2.settings_timeout", _ms(limits.handshake_s)),
        # A peer that is gone without a word is noticed in half a minute. Without the undocumented third option it would
        # take a minute longer. Decisions never wait for it: they have clocks.
        ("grpc.keepalive_time_ms", _ms(limits.keepalive_s)),
        ("grpc.keepalive_timeout_ms", _ms(limits.keepalive_timeout_s)),
        ("grpc.http2.ping_timeout_ms", _ms(limits.keepalive_timeout_s)),
        # A bot may ping every ten seconds; one that pings more often is cut off after two strikes.
        ("grpc.http2.min_ping_interval_without_data_ms", 9_000),
        ("grpc.http2.max_ping_strikes", 2),
        # A connection without a call.
        ("grpc.max_connection_idle_ms", _ms(limits.idle_s)),
        # The only way to be rid of a stream whose bot never reads, as even ending it waits for the bot. Bots resume.
        ("grpc.max_connection_age_ms", _ms(limits.connection_age_s)),
        ("grpc.max_connection_age_grace_ms", _ms(limits.connection_age_grace_s)),
        # Shows the sockets of others.
        ("grpc.enable_channelz", 0),
    ]


def _ms(seconds: float) -> int:
    return round(seconds * 1_000)
