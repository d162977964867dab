"""The drawing of matches for people, live and replayed: what one viewer may see at a moment, as data and as HTML."""
