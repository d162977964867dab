"""The check whether a bot is ready for a server: scripted situations, each with a finding in plain words."""
