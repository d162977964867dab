"""The commands of the SDK: one module per command or group of related commands."""
