# SPDX-License-Identifier: GPL-2.0-only
"""Remembers which inputs a checker found clean, and runs checkers in parallel.

A key is the hash of everything that a verdict depends on: the checker's
version, its options and all text that it reads. Only clean verdicts are kept,
so every run prints a finding until it is fixed. Keys are empty files below
${XDG_CACHE_HOME:-~/.cache}/ntrace/lint/KIND; all worktrees share them.
"""
import concurrent.futures
import hashlib
import os
import subprocess
import time

DAY = 24 * 60 * 60


def jobs():
    """Number of processes to run at a time: $JOBS, or one per CPU."""
    return int(os.environ.get("JOBS") or 0) or len(os.sched_getaffinity(0))


def parallel(function, items):
    """Returns [function(item) for item in items], computed jobs() at a time."""
    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        return list(pool.map(function, items))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def version(tool):
    return subprocess.run([tool, "--version"], check=True, capture_output=True).stdout


def key(*parts):
    """Returns a hash of byte strings, strings and lists of them."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, (list, tuple)):
            part = key(*part)
        if isinstance(part, str):
            part = part.encode()
        digest.update(b"%d:" % len(part) + part)
    return digest.hexdigest()


class Clean:
    """The keys that one kind of checker found clean."""

    def __init__(self, kind):
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        self.directory = os.path.join(base, "ntrace", "lint", kind)
        os.makedirs(self.directory, exist_ok=True)
        self.prune()

    def __contains__(self, name):
        return os.path.exists(os.path.join(self.directory, name))

    def add(self, name):
        with open(os.path.join(self.directory, name), "w"):
            pass

    def prune(self):
        """Removes keys that are a month old, once a day."""
        marker = os.path.join(self.directory, "pruned")
        now = time.time()
        if os.path.exists(marker) and now - os.path.getmtime(marker) < DAY:
            return
        self.add("pruned")
        os.utime(marker)
        for entry in os.scandir(self.directory):
            try:
                if now - entry.stat().st_mtime > 30 * DAY:
                    os.unlink(entry.path)
            except FileNotFoundError:
                pass
