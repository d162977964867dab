"""Notices: what happened to bots and ladders, queued for the receivers that want to know."""
