"""Szmal: draft a gang, play a card a round, and be the richest when twelve rounds are over."""
