"""The commands: one module for each, or for a group of related ones."""
