"""The optional abilities of a server, a folder each; the core imports none of them."""
