"""How strong everybody on a ladder is, from all of its results at once, and how sure that is."""
