"""Signing in on the page at a provider of OpenID Connect: a person's account there is an owner here."""
