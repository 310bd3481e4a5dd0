#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests the page of a recording with timestamps.

usage: page_times.py PAGE REPORT
REPORT is ntrace report --json --limit 0 of the same recording. Prints TAP.

"""
import json
import os
import re
import sys

import browser
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from tap import done, ok  # noqa: E402

UNITS = {"s": 1, "ms": 1e-3, "\u00b5s": 1e-6, "ns": 1e-9}
TIME = r"(~?)([\d.]+) (s|ms|\u00b5s|ns)\b"


def seconds(text):
    """Returns the time that a text shows, and whether the text marks it as
    interpolated."""
    mark, value, unit = re.search(TIME, text).groups()
    return float(value) * UNITS[unit], mark == "~"


def close(a, b):
    return abs(a - b) <= 0.001 * max(a, b) + 1e-9


def test_functions(page, report):
    hz = report["time"]["hz"]
    titles = page.value("[...document.querySelectorAll('#view-functions th')].map((cell) => cell.textContent)")
    ok(titles[4:6] == ["time", "time with callees"], "functions: columns of times", titles)
    shown = page.value("[...document.querySelectorAll('#view-functions tbody tr')].map((row) => "
                       "[...row.children].map((cell) => cell.textContent))")
    wrong = [(row, item) for row, item in zip(shown, report["functions"])
             if not close(seconds(row[4])[0], item["ticks"] / hz) or not close(seconds(row[5])[0], item["total_ticks"] / hz)
             or not row[4].startswith("~") or not row[5].startswith("~")]
    ok(not wrong and len(shown) > 100, f"{len(shown)} rows with the times of the report, marked as interpolated", wrong[:2])
    page.click("#view-functions th:nth-child(6) button")
    first = page.value("[...document.querySelectorAll('#view-functions tbody tr')].map((row) => row.lastElementChild.textContent)")
    want = max(report["functions"], key=lambda item: item["total_ticks"])
    ok(first[0] == (want["function"] or "[no symbol]"), "sorted by time with callees", first[:3], want)


def test_timeline(page, report):
    hz = report["time"]["hz"]
    page.click("#tab-timeline")
    axis = page.value("[...document.querySelectorAll('#lanes .axis span')].map((label) => label.textContent)")
    times = [seconds(label)[0] for label in axis]
    ok(len(times) == 5 and times == sorted(times) and times[0] == 0, "the axis is in time", axis)
    longest = max(sum(item["ticks"] for item in report["threads"] if item["cpu"] == cpu) for cpu in {item["cpu"] for item in report["threads"]}) / hz
    ok(longest * 0.999 <= times[4] < longest * 20, f"{times[4]} s of it, of which a CPU executed {longest} s")
    cpus = page.value("[...document.querySelectorAll('#lanes > div')].map((row) => row.textContent).filter((text) => text.startsWith('CPU'))")
    for cpu, text in enumerate(cpus):
        want = sum(item["ticks"] for item in report["threads"] if item["cpu"] == cpu) / hz
        got, marked = seconds(text)
        ok(text.startswith(f"CPU {cpu}: ") and close(got, want) and marked, text)
    ok(len(cpus) == 1, "one CPU")
    legend = page.value("[...document.querySelectorAll('.legend li')].map((item) => item.textContent)")
    for name in ("short_work", "long_work"):
        want = sum(item["ticks"] for item in report["threads"] if item["thread"] == name) / hz
        got = [seconds(text) for text in legend if text.startswith(name + " ")]
        ok(len(got) == 1 and close(got[0][0], want) and got[0][1], f"{name}: {got}", legend[:5])
    page.value("document.getElementById('lanes').focus()")
    page.key("+")
    near = page.value("[...document.querySelectorAll('#lanes .axis span')].map((label) => label.textContent)")
    width = seconds(near[4])[0] - seconds(near[0])[0]
    ok(abs(width - times[4] / 2) < 0.01 * times[4], "zooms in time", near)
    ok("interpolated" in page.value("document.querySelector('#view-timeline .tools').textContent"), "says that times are interpolated")
    page.click("#tab-flame-graph")
    about = page.value("document.querySelector('#view-flame-graph .about').textContent")
    ok(close(seconds(about)[0], sum(item["ticks"] for item in report["functions"]) / hz), f"flame graph: {about}")


def main():
    page = browser.Browser()
    try:
        page.open("file://" + os.path.abspath(sys.argv[1]), "document.body && document.body.dataset.ready")
        report = json.load(open(sys.argv[2]))
        test_functions(page, report)
        test_timeline(page, report)
        ok(not page.complaints(), "no error in the console", *page.complaints())
        ok(len(page.requests()) == 1, "nothing was asked for but the page", *page.requests())
    finally:
        page.close()
    done()


if __name__ == "__main__":
    main()
