"""Workers: other machines that play whole matches; what `cutpurse worker` does."""
