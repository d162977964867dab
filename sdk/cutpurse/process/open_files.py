"""The limit of open files of this process: each connection is one."""

from __future__ import annotations

import contextlib

__all__ = ["allow_files"]


def allow_files(files: int) -> int | None:
    """Raise the soft limit of open files to `files`, or as far as the hard limit allows; never lower it.

    Returns:
        The new limit; None if there is no limit, or it is unknown.
    """
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft == resource.RLIM_INFINITY:
            return None
        most = files if hard == resource.RLIM_INFINITY else min(files, hard)
        if soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        return max(soft, most)
    return None
