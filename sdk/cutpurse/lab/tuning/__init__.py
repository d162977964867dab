"""Search for good values of the numbers that a bot declares: common deals for all, a sequential test at the end."""
