"""Matches: who meets whom, each match with its clocks, and what becomes of its result.

`lobby` is where to begin; `dealing` begins matches, `pairing` says whose, a `table` plays one, `storing` hands its
result on. Nothing here knows a stream, a socket or a thread but `ledger`, which writes for the lobby on one of its own.
"""
