"""A table drawn for people: what one viewer may see at one moment, as plain data and as HTML; matches played again."""
