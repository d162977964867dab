"""The command `python -m benchmarks.arena`: only the arena's part of `make bench`."""

import sys

from benchmarks.bench import main

sys.exit(main(["--only", "arena", *sys.argv[1:]]))
