"""Several servers of one league: each plays the ladders that it has leased, and passes calls about others on."""
