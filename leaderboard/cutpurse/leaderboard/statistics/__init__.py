"""Statistics that the server and local runs share, as arithmetic alone. Nothing of the project is imported."""
