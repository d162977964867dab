"""Delivery of notices to receivers outside: webhooks, and mail or chat through apprise."""
