"""The pages, one module each: the calls that load its data, and its template."""
