"""The languages of the page: the catalogue of its words, and the language of each request."""
