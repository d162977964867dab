"""`python -m benchmarks.arena`: the arena's part of `make bench` alone."""

import sys

from benchmarks.bench import main

sys.exit(main(["--only", "arena", *sys.argv[1:]]))
