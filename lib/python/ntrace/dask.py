# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""Counts of many recordings, on the workers of a Dask cluster (distributed).

    import distributed, ntrace.dask
    with distributed.Client("scheduler:8786") as client:
        ntrace.dask.count(client, glob.glob("/data/*.data"), "/data/all.counts")

Each recording is counted by a task of its own, and their sums by others. The result is that of
`ntrace count -o OUTPUT RECORDING...`, byte by byte: sums do not depend on how they are grouped.
Workers need the command ntrace and a directory that all of them see; the recordings are not sent.
"""

import os
import subprocess
from typing import Any, List, Sequence

__all__ = ["count"]

# Files in one task of merging; `ntrace merge` reads as many at once.
FAN_IN = 32


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise RuntimeError("%s: status %d: %s" % (" ".join(command[:2]), done.returncode,
                                                  done.stderr.strip()))


def _count(command: Sequence[str], options: Sequence[str], recording: str, output: str) -> str:
    _run([*command, "count", *options, "-o", output, recording])
    return output


def _merge(command: Sequence[str], parts: Sequence[str], output: str, keep: bool = False) -> str:
    _run([*command, "merge", "-o", output, *parts])
    if not keep:
        for part in parts:
            os.unlink(part)
    return output


def count(client: Any, recordings: Sequence[str], output: str, directory: str = "",
          options: Sequence[str] = (), command: Sequence[str] = ("ntrace",)) -> str:
    """Counts recordings, and writes the sum to output. Returns output.

    client: a distributed.Client, or another object with its submit() and its futures' result()
    directory: for files of parts, seen by all workers; that of output if it is not given
    options: of `ntrace count`, such as ["--user", "--class", "web"]
    command: how workers call the command

    RuntimeError has the message of the first recording that cannot be counted; files of other
    parts may then stay in directory.
    """
    if not recordings:
        raise ValueError("no recordings")
    output = os.path.abspath(output)
    base = os.path.join(directory or os.path.dirname(output), os.path.basename(output))
    level: List[Any] = [client.submit(_count, command, options, os.path.abspath(recording),
                                      "%s.0.%d" % (base, number), pure=False)
                        for number, recording in enumerate(recordings)]
    depth = 0
    while len(level) > FAN_IN:
        depth += 1
        level = [client.submit(_merge, command, level[first:first + FAN_IN],
                               "%s.%d.%d" % (base, depth, first // FAN_IN), pure=False)
                 for first in range(0, len(level), FAN_IN)]
    result: str = client.submit(_merge, command, level, output, pure=False).result()
    return result
