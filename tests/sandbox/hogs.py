"""Hostile programs that use up resources or do not end: what each does, and how it must end.

README.md shows `HOGS`; the sources run in the sandbox, on Python without site-packages.
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
        "fork bomb: every process keeps starting others",
        "no more processes than allowed; it is stopped after some hundred refusals",
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
        "endless threads",
        "threads count as processes",
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
        "endless memory",
        "it is killed above its limit; no other program is affected",
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
        "endless memory, in many small processes",
        "they share one limit",
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
        "endless memory, in memory files (memfd)",
        "it counts as memory",
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
        "a full scratch folder",
        "the scratch folder has a fixed size in memory; it can write nowhere else",
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
        "a full /dev/shm",
        "it has a fixed size too",
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
        "one empty file of a terabyte",
        "files have a size limit",
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
        "endless empty files",
        "what the kernel needs for them counts as memory",
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
        "endless open files",
        "the number of open files is limited",
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
        "full pipes, as many and as large as possible",
        "their contents count as memory, and are small",
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
        "endless loops in many processes",
        "they share the CPU of one program, up to its total",
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
        "endless output",
        "the newest output is stored, up to a rate; the rest is dropped",
        """
        import os
        while True:
            os.write(1, b"x" * 65536)
        """,
        ("processor",),
        ResourceLimits(cpu_s=1.0, wall_s=90.0),
        said="bytes left out",
    ),
    "terminal escapes": Hog(
        "output with terminal control codes",
        "control codes are escaped",
        r"""
        print("\x1b[2J\x1b]0;owned\x07\x1b[31m\u202e\x9b5n\r\b")
        """,
        ("exited",),
        SMALL,
        said="\\x1b[2J\\x1b]0;owned\\x07\\x1b[31m\\u202e\\x9b5n\\x0d\\x08\n",
    ),
    "closed outputs": Hog(
        "running on with closed outputs",
        "the limits still apply",
        """
        import os, signal
        os.write(1, b"last words")
        os.close(1)
        os.close(2)
        signal.pause()
        """,
        ("time",),
        ResourceLimits(wall_s=20.0),  # in which it begins on a busy machine too
        said="last words",
    ),
    "asleep": Hog(
        "waiting without end",
        "a time limit stops it, if it has one; a silent bot loses by its clock",
        "import signal; signal.pause()",
        ("time",),
        BRIEF,
    ),
    "stopped by itself": Hog(
        "stopping itself (SIGSTOP), so that it can't be asked to exit",
        "it is killed",
        "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
        ("time",),
        BRIEF,
    ),
    "deaf to signals": Hog(
        "ignoring every signal",
        "SIGKILL can't be ignored",
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
        "killing every process it can",
        "it reaches only its own",
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
        "leaving daemons behind (double fork, own session, ignoring signals)",
        "they end with it",
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
        "reading invalid memory",
        "only that program crashes",
        "import ctypes; ctypes.string_at(0)",
        ("signal",),
        SMALL,
    ),
    "build that fills the disk": Hog(
        "endless files from a build step, which may write to its folder",
        "its folder is measured four times a second; above the limit it is killed",
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
        "their number is limited too",
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
        "nested folders from a build step, deeper than the longest path",
        "what can't be measured counts as too much",
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
