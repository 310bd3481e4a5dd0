#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Time to open the page of ntrace report --html, each time in a new browser.

usage: page_load.py PAGE ROUNDS
Prints "load SECONDS" for each round: from entering the address until the page is complete and its
largest part is painted; then "view SECONDS" for the slowest of its views, from the click on the tab
to the layout.

"""
import os
import sys
import time

import browser

PAINTED = """(() => {
    window.painted = 0;
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries())
            window.painted = Math.max(window.painted, entry.startTime);
    }).observe({ type: 'largest-contentful-paint', buffered: true });
})()"""
LOADED = "window.painted && performance.getEntriesByType('navigation')[0].loadEventEnd"
SLOWEST = """Math.max(...[...document.querySelectorAll('[role=tab]')].slice(1).map((tab) => {
    const start = performance.now();
    tab.click();
    document.body.getBoundingClientRect();
    return performance.now() - start;
}))"""


def measure(path):
    page = browser.Browser()
    try:
        page.open("file://" + os.path.abspath(path), "document.body && document.body.dataset.ready")
        page.value(PAINTED)
        deadline = time.monotonic() + 60
        while not page.value(LOADED):
            if time.monotonic() > deadline:
                sys.exit("page_load: nothing was painted")
            time.sleep(0.05)
        load = page.value("Math.max(window.painted, performance.getEntriesByType('navigation')[0].loadEventEnd, "
                          "+document.body.dataset.ready)")
        slowest = page.value(SLOWEST)
        if page.complaints():
            sys.exit(f"page_load: {page.complaints()[0]}")
        print(f"load {load / 1000:.4f}\nview {slowest / 1000:.4f}")
    finally:
        page.close()


def main():
    for _ in range(int(sys.argv[2])):
        measure(sys.argv[1])


if __name__ == "__main__":
    main()
