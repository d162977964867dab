"""Programs: bots in any language in local play, each on a small server of its own."""
