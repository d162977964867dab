"""Hostile programs that use up resources or do not end: what each does, and how it must end.

docs/sandbox.md shows `HOGS`; the sources run in the sandbox, on Python without site-packages.
"""

from __future__ import annotations

from dataclasses import dataclass

from cutpurse.server.runners.port import Cause, ResourceLimits
from tests.sandbox.trying import MIB

__all__ = ["HOGS", "Hog"]


@dataclass(frozen=True)
class Hog:
    """A hostile program.

    Attributes:
        tries: What it does, for people.
        happens: The result, for people.
        source: The program.
        causes: Causes by which it may end.
        limits: Its resource limits.
        said: Text that its output must contain.
        needs: Controllers without which the result cannot be judged.
        is_build: It may write into its folder.
    """

    tries: str
    happens: str
    source: str
    causes: tuple[Cause, ...]
    limits: ResourceLimits
    said: str = ""
    needs: tuple[str, ...] = ()
    is_build: bool = False


SMALL = ResourceLimits(memory_bytes=64 * MIB, processes=24, file_bytes=8 * MIB, wall_s=60.0)
SECOND = ResourceLimits(cpu_s=1.0, wall_s=60.0)
BRIEF = ResourceLimits(wall_s=1.0)

HOGS: dict[str, Hog] = {
    "fork bomb": Hog(
        "a fork bomb: every process starts others for ever",
        "no more than its processes are started; after some hundreds of refusals it is ended",
        """
        import os
        while True:
            try:
                os.fork()
            except OSError:
                pass
        """,
        ("processes",),
        SMALL,
        needs=("pids",),
    ),
    "thread bomb": Hog(
        "threads without end",
        "threads count as processes do",
        """
        import threading, time
        while True:
            try:
                threading.Thread(target=time.sleep, args=(1000,)).start()
            except RuntimeError:
                pass
        """,
        ("processes",),
        SMALL,
        needs=("pids",),
    ),
    "memory hog": Hog(
        "memory without end",
        "it is ended when it wants more than its own; nobody else's is touched",
        """
        held = []
        while True:
            held.append(bytearray(b"x" * (1 << 20)))
        """,
        ("memory",),
        SMALL,
        needs=("memory",),
    ),
    "memory of many": Hog(
        "memory without end, by many small processes",
        "all of them have one limit together",
        """
        import os
        for _ in range(12):
            if os.fork() == 0:
                break
        held = [bytearray(b"x" * (1 << 20)) for _ in range(20)]
        while True:
            pass
        """,
        ("memory",),
        SMALL,
        needs=("memory",),
    ),
    "memory files": Hog(
        "memory without end, in files of memory (memfd)",
        "it counts as its memory",
        """
        import os
        held = []
        while True:
            held.append(os.memfd_create("x"))
            for _ in range(4):
                os.write(held[-1], b"x" * (1 << 20))
        """,
        ("memory",),
        SMALL,
        needs=("memory",),
    ),
    "disk filler": Hog(
        "its scratch filled up",
        "the scratch is of limited size, in memory: no space is left there, and nowhere else is any written",
        """
        import errno
        try:
            with open("/tmp/full1", "wb", 0) as one, open("/tmp/full2", "wb", 0) as two:
                while True:
                    one.write(bytes(1 << 16))
                    two.write(bytes(1 << 16))
        except OSError as problem:
            print(errno.errorcode[problem.errno])
        """,
        ("exited",),
        SMALL,
        said="ENOSPC",
    ),
    "shared memory filler": Hog(
        "/dev/shm filled up",
        "that is of limited size, too",
        """
        import errno
        try:
            for number in range(1000):
                with open(f"/dev/shm/{number}", "wb", 0) as file:
                    file.write(bytes(1 << 20))
        except OSError as problem:
            print(errno.errorcode[problem.errno])
        """,
        ("exited",),
        SMALL,
        said="ENOSPC",
    ),
    "huge file": Hog(
        "one file of a terabyte, empty",
        "no file is larger than the limit",
        """
        import errno
        try:
            with open("/tmp/huge", "wb") as file:
                file.truncate(1 << 40)
        except OSError as problem:
            print(errno.errorcode[problem.errno])
        """,
        ("exited",),
        SMALL,
        said="EFBIG",
    ),
    "inodes": Hog(
        "files without end, all empty",
        "what the system needs for them counts as its memory",
        """
        number = 0
        while True:
            open(f"/tmp/{number}", "w").close()
            number += 1
        """,
        ("memory", "exited"),
        ResourceLimits(memory_bytes=32 * MIB, file_bytes=8 * MIB, wall_s=90.0, cpu_cores=1.0),
        needs=("memory",),
    ),
    "open files": Hog(
        "files opened without end",
        "no more than its limit are open at once",
        """
        import errno
        held = []
        try:
            while True:
                held.append(open("/bot/main.py"))
        except OSError as problem:
            print(errno.errorcode[problem.errno], len(held) < 256)
        """,
        ("exited",),
        SMALL,
        said="EMFILE True",
    ),
    "pipes": Hog(
        "pipes filled up, as many and as large as can be had",
        "what is in them counts as its memory, and is small",
        """
        import errno, fcntl, os
        held = []
        try:
            while True:
                pipe = os.pipe()
                held.append(pipe)
                try:
                    fcntl.fcntl(pipe[1], 1031, 1 << 20)
                except OSError:
                    pass
                os.set_blocking(pipe[1], False)
                try:
                    while True:
                        os.write(pipe[1], bytes(1 << 16))
                except BlockingIOError:
                    pass
        except OSError as problem:
            print(errno.errorcode[problem.errno])
        """,
        ("exited", "memory"),
        SMALL,
    ),
    "busy loop": Hog(
        "a loop without end, on many processes at once",
        "all of them have the share of one program; what it may use in all ends it",
        """
        import os
        for _ in range(8):
            if os.fork() == 0:
                break
        while True:
            pass
        """,
        ("processor",),
        SECOND,
    ),
    "endless output": Hog(
        "output without end",
        "so much a second is kept, the newest; what is more is left out, and waits for 5 ms a MiB at most",
        """
        import os
        while True:
            os.write(1, b"x" * 65536)
        """,
        ("processor",),
        ResourceLimits(cpu_s=0.2, wall_s=90.0),
        said="bytes left out",
    ),
    "terminal escapes": Hog(
        "output that writes over a terminal",
        "it is shown as what it is",
        r"""
        print("\x1b[2J\x1b]0;owned\x07\x1b[31m\u202e\x9b5n\r\b")
        """,
        ("exited",),
        SMALL,
        said="\\x1b[2J\\x1b]0;owned\\x07\\x1b[31m\\u202e\\x9b5n\\x0d\\x08\n",
    ),
    "closed outputs": Hog(
        "its outputs closed, and on it goes",
        "it is held to its limits all the same",
        """
        import os, signal
        os.write(1, b"last words")
        os.close(1)
        os.close(2)
        signal.pause()
        """,
        ("time",),
        BRIEF,
        said="last words",
    ),
    "asleep": Hog(
        "nothing, for ever",
        "where there is a time for it, that ends it; a bot that does not answer loses by the match's own clock",
        "import signal; signal.pause()",
        ("time",),
        BRIEF,
    ),
    "stopped by itself": Hog(
        "itself stopped (SIGSTOP), so that it cannot be asked to end",
        "it is not asked",
        "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
        ("time",),
        BRIEF,
    ),
    "deaf to signals": Hog(
        "every signal ignored",
        "the last one cannot be",
        """
        import signal
        for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
        while True:
            signal.pause()
        """,
        ("time",),
        BRIEF,
    ),
    "all of them killed": Hog(
        "every process killed that it may",
        "those are its own",
        """
        import os, time
        if os.fork() == 0:
            time.sleep(1000)
        print("now", flush=True)
        os.kill(-1, 9)
        os.kill(os.getpid(), 9)
        """,
        ("signal",),
        SMALL,
        said="now",
    ),
    "daemons": Hog(
        "daemons left behind (forked twice, in sessions of their own, deaf)",
        "they are gone when it is",
        """
        import os, signal, time
        for _ in range(5):
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    signal.signal(signal.SIGTERM, signal.SIG_IGN)
                    signal.signal(signal.SIGHUP, signal.SIG_IGN)
                    time.sleep(1000)
                os._exit(0)
        print("gone")
        """,
        ("exited",),
        SMALL,
        said="gone",
    ),
    "crash": Hog(
        "memory read that is not there",
        "it falls, alone",
        "import ctypes; ctypes.string_at(0)",
        ("signal",),
        SMALL,
    ),
    "build that fills the disk": Hog(
        "files without end from a build step, which may write into its folder",
        "its folder is looked at four times a second; what grows beyond the limit is ended",
        """
        number = 0
        while True:
            with open(f"full{number}", "wb") as file:
                file.write(bytes(1 << 20))
            number += 1
        """,
        ("disk",),
        SMALL,
        is_build=True,
    ),
    "build of many files": Hog(
        "a hundred thousand empty files from a build step",
        "their number is limited, too",
        """
        for number in range(100_000):
            open(f"empty{number}", "w").close()
        import signal; signal.pause()
        """,
        ("disk",),
        ResourceLimits(cpu_cores=1.0),
        is_build=True,
    ),
    "build that digs": Hog(
        "folders in folders from a build step, deeper than a path can be long",
        "what cannot be looked through is too much",
        """
        import os, signal
        for _ in range(30):  # deeper than a path can be long
            os.mkdir("a" * 200)
            os.chdir("a" * 200)
        signal.pause()
        """,
        ("disk",),
        ResourceLimits(wall_s=20.0),
        is_build=True,
    ),
}
