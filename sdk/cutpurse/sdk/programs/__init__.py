"""Programs as bots, in any language: in local play, each connects to a small server of its own."""
