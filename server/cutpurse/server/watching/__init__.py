"""The watching of matches while they are played."""
