#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares what speedscope shows of an export with the folded stacks.

usage: speedscope.py DIRECTORY PROFILE FOLDED
DIRECTORY is speedscope's npm package, PROFILE the export for it, FOLDED the folded stacks of the same recording.
Reads the table of the view "Sandwich" for each thread: total and own instructions of each function.

Prints for each thread "THREAD: N functions, N instructions, N differ", and the differences on standard error.

"""
import base64
import collections
import json
import os
import re
import sys
import tempfile
import time

import browser

ROW = re.compile(r"([\d,]+) \([^)]*\)\s+([\d,]+) \([^)]*\)\s+(.+)")


def folded(path):
    """{thread: {stack: instructions}}"""
    threads = collections.defaultdict(collections.Counter)
    for line in open(path):
        stack, count = line.rstrip("\n").rsplit(" ", 1)
        thread, *frames = stack.split(";")
        threads[thread][tuple(frames)] += int(count)
    return threads


def number(text):
    return int(text.replace(",", ""))


def rows(page):
    """{function: [(total instructions, own instructions)]}: functions of one name have a row each."""
    found = collections.defaultdict(list)
    table = page.value("document.body.innerText").split("Symbol Name", 1)[1]
    for total, own, name in ROW.findall(table):
        found[name.strip()].append((number(total), number(own)))
    return found


def judge(stacks, shown):
    own, total = collections.Counter(), collections.Counter()
    for frames, count in stacks.items():
        own[frames[-1]] += count
        for name in set(frames):
            total[name] += count
    for name in sorted({*total, *shown}):
        got = shown[name]
        if sum(row[1] for row in got) != own[name] or (len(got) < 2 and [row[0] for row in got] != [total[name]]):
            yield f"{name}: {total[name]} {own[name]}, shown {got}"


def differences(page, stacks):
    """Rows appear some time after the head of the table, when those of the previous thread are gone."""
    deadline = time.monotonic() + 10
    while (differ := list(judge(stacks, rows(page)))) and time.monotonic() < deadline:
        time.sleep(0.1)
    return differ


def main():
    directory, profile, stacks = *sys.argv[1:3], folded(sys.argv[3])
    with open(profile, "rb") as file:
        data = file.read()
    # Passes the file as speedscope's own command does.
    script = tempfile.NamedTemporaryFile("w", suffix=".js")
    script.write(f"speedscope.loadFileFromBase64('profile', '{base64.b64encode(data).decode()}')")
    script.flush()
    # The table contains only the visible rows.
    frames = len(json.loads(data)["shared"]["frames"])
    page = browser.Browser(size=f"1600,{40 * frames + 400}")
    try:
        page.open(f"file://{os.path.realpath(directory)}/dist/release/index.html#localProfilePath={script.name}",
                  "document.body && /\\(1\\/\\d+\\)|Import.*\\n.*Export/.test(document.body.innerText) && document.title.length > 0")
        page.key("3")
        for thread in stacks:
            page.wait(f"document.body.innerText.includes({json.dumps(thread)}) && document.body.innerText.includes('Symbol Name')")
            differ = differences(page, stacks[thread])
            print(f"{thread}: {len({name for stack in stacks[thread] for name in stack})} functions, "
                  f"{sum(stacks[thread].values())} instructions, {len(differ)} differ")
            print(*differ[:10], sep="\n", file=sys.stderr)
            page.key("n")
        assert all(url.startswith("file://") for url in page.requests()), "it asks for something of others"
    finally:
        page.close()


main()
