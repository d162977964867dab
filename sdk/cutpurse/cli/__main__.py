"""Run the command line: `python -m cutpurse.cli`."""

from cutpurse.cli.main import main

main()
