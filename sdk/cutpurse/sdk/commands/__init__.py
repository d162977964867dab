"""The commands of the SDK, a module each, or a few that belong together."""
