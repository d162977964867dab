"""Is a bot ready for a server? Scripted situations, each with a finding in plain words."""
