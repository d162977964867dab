"""Places: other machines that run submitted bots. Here are both ends: the server's, and that of `cutpurse place`."""
