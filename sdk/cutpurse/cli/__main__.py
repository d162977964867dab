"""The console script `cutpurse`, and `python -m cutpurse.cli`.

A signal during the imports ends the process without a traceback.
"""

import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # as `end_quietly` does, before anything is imported
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from cutpurse.cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
