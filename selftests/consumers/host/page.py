#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests the page of ntrace report --html in a browser.

usage: page.py PAGE REPORT TRACEFILE [SCREENSHOT]
REPORT is ntrace report --json of the same recording, TRACEFILE its export for lcov:
the page must show the same numbers. Prints TAP. Writes SCREENSHOT, if it is given.

"""
import json
import os
import re
import sys
import time

import browser
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from tap import done, ok  # noqa: E402


def number(text):
    return int(text.replace(",", ""))


def rows(page, view):
    return page.value(f"[...document.querySelectorAll('#view-{view} tbody tr')].map("
                      "(row) => [...row.children].map((cell) => cell.textContent))")


def selected(page):
    return page.value("[document.querySelector('[role=tab][aria-selected=true]').textContent, "
                      "[...document.querySelectorAll('[role=tabpanel]')].filter((view) => view.checkVisibility())"
                      ".map((view) => view.id).join()]")


def search(page, text):
    """By keyboard: replaces the previous text."""
    page.value("document.activeElement.blur()")
    page.key("/")
    page.key("Escape")
    page.type(text)
    return page.value("document.getElementById('found').textContent")


def test_functions(page, report):
    functions = report["functions"]
    shown = rows(page, "functions")
    ok([(row[-1], number(row[1]), number(row[2]), number(row[3])) for row in shown] ==
       [(item["function"] or "[no symbol]", item["instructions"], item["calls"], item["total"]) for item in functions][:len(shown)] and len(shown) > 10,
       f"functions: {len(shown)} rows with the numbers of the report", shown[:3], functions[:3])
    found = search(page, "PRODUCT")
    ok(found == f"1 of {len(functions)} rows" and [row[-1] for row in rows(page, "functions")] == ["product"],
       f"search: {found}", rows(page, "functions"))
    search(page, "")
    page.click("#view-functions th:nth-child(3) button")
    calls = [number(row[2]) for row in rows(page, "functions")]
    ok(calls == sorted(calls, reverse=True) and calls[0] == max(item["calls"] for item in functions), "sorted by calls", calls[:9])
    page.click("#view-functions th:nth-child(3) button")
    calls = [number(row[2]) for row in rows(page, "functions")]
    ok(calls == sorted(calls), "and the other way round", calls[:9])


def test_function(page, report):
    """A click on a function leads to its callers and callees and to the flame graph, and back; the address keeps the place."""
    first = rows(page, "functions")[0][-1]
    page.click("#view-functions tbody tr:first-child td:last-child button")
    name = page.value("document.querySelector('#function h2').textContent")
    shown = page.value("[...document.querySelectorAll('#function td:last-child')].map((cell) => cell.textContent)")
    ok(name == first and shown, f"a click shows callers and callees of {name}", first, shown)
    page.click("#function .tools button")
    ok(selected(page) == ["flame graph", "view-flame-graph"] and page.value("document.querySelectorAll('#graph .found').length"),
       "it leads to the frames of the function", selected(page))
    page.value("history.back()")
    page.wait("document.querySelector('#tab-functions').getAttribute('aria-selected') === 'true'")
    address = page.value("location.href")
    page.open("about:blank", "true")
    page.open(address, "!!(document.body && document.body.dataset.ready && document.querySelector('#function h2'))")
    ok(page.value("document.querySelector('#function h2').textContent") == name, "the address of the page has the function")
    page.click("#tab-functions")
    ok(page.value("document.getElementById('function').textContent") == "", "the tab shows the table alone")


def test_narrow(page):
    """As on a telephone: no view is wider than the window."""
    page.call("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=True)
    wide = []
    for tab in page.value("[...document.querySelectorAll('[role=tab]')].map((tab) => tab.id)"):
        page.click("#" + tab)
        if page.value("document.documentElement.scrollWidth") > 390:
            wide.append(tab)
    ok(not wide, "390 pixels are enough", *wide)
    page.call("Emulation.clearDeviceMetricsOverride")


def test_tabs(page):
    titles = page.value("[...document.querySelectorAll('[role=tab]')].map((tab) => tab.textContent)")
    page.value("document.querySelector('[role=tab][aria-selected=true]').focus()")
    seen = []
    for _ in titles:
        page.key("ArrowRight")
        seen.append(selected(page))
    want = [[title, "view-" + title.replace(" ", "-")] for title in titles[1:] + titles[:1]]
    ok(seen == want and len(titles) >= 5, f"tabs by arrow keys, one view at a time: {', '.join(titles)}", seen)
    page.key("End")
    last = selected(page)[0]
    page.key("Home")
    ok([last, selected(page)[0]] == [titles[-1], titles[0]], "End and Home")
    return titles


def test_timeline(page, report):
    page.click("#tab-timeline")
    span = "(() => { const lanes = document.getElementById('lanes').dataset; return [+lanes.from, +lanes.to]; })()"
    whole = page.value(span)
    ok(whole[0] == 0 and 0 < whole[1] <= report["instructions"]["all"], "timeline: all of it", whole)
    page.value("document.getElementById('lanes').focus()")
    page.key("+")
    page.key("+")
    near = page.value(span)
    ok(abs((near[1] - near[0]) * 4 - whole[1]) < 1, "zooms by keyboard", near)
    page.key("ArrowRight")
    moved = page.value(span)
    ok(moved[0] > near[0] and abs(moved[1] - moved[0] - near[1] + near[0]) < 1, "and moves", moved)
    page.key("0")
    ok(page.value(span) == whole, "and shows all again")
    sums = re.findall(r"([\d.]+) %", page.value("document.querySelector('.legend').textContent"))
    ok(abs(sum(map(float, sums)) - 100) < 0.2, "the threads' shares add up", sums)
    ink = page.value("(() => { const canvas = document.querySelector('#lanes canvas'); const pixels = canvas.getContext('2d')"
                     ".getImageData(0, 0, canvas.width, 20).data; return pixels.filter((value, i) => i % 4 === 3 && value).length"
                     " / (pixels.length / 4); })()")
    ok(ink > 0.9, "something is drawn", ink)


def test_source(page, tracefile):
    page.click("#tab-source")
    want, inside = {}, False
    for line in open(tracefile):
        if line.startswith("SF:"):
            inside = line.endswith("/calculator.c\n")
        elif line.startswith("DA:") and inside:
            key, value = line[3:].split(",")
            want[key] = int(value)
    search(page, "calculator.c")
    page.click("#view-source tbody td button")
    shown = page.value("[...document.querySelectorAll('#code [data-line]')].map((row) => "
                       "[row.dataset.line, row.children[1].textContent])")
    got = {line: number(text) for line, text in shown if text}
    ok(got == want and len(got) > 50, f"source: {len(got)} lines counted as in the export for lcov", got, want)
    ok("enum op { PUSH, LOAD, ADD" in page.value("document.getElementById('code').textContent"), "with its text")
    ok(re.search(r"taken [\d,]+ of [\d,]+", page.value("document.getElementById('code').textContent")), "and branches")


def test_branches(page):
    page.click("#tab-branches")
    search(page, "factor")
    shown = rows(page, "branches")
    ok(shown and all("factor" in " ".join(row) for row in shown), f"branches: {len(shown)} of factor", shown[:3])
    ok(any(row[2] == "call" and row[3].startswith("product+0x") and row[5].startswith("factor+0x0 ") and
           re.match(r"calculator\.c:\d+$", row[4]) for row in shown), "a call, with both ends and its line", shown[:3])


def test_flame(page, report):
    page.click("#tab-flame-graph")
    about = "document.querySelector('#view-flame-graph .about').textContent"
    root = "document.getElementById('graph').dataset.root"
    all_of_it = page.value(root)
    whole = re.search(r": ([\d,]+) instructions", page.value(about))
    ok(whole and number(whole.group(1)) == report["instructions"]["selected"], "flame graph: all instructions", page.value(about))
    found = search(page, "factor")
    ok(re.match(r"[1-9]\d* frames, [1-9][\d.]* %$", found) and
       page.value("document.querySelectorAll('#graph .found').length") > 0, f"search: {found}", found)
    page.click("#graph .found")
    ok("factor" in page.value(root), "a click zooms in", page.value(root))
    near = page.value(root)
    page.key("Escape")
    ok(page.value(root) != near, "Escape zooms out")
    page.click("#view-flame-graph .tools button")
    ok(page.value(root) == all_of_it, "all of it again")
    page.key("ArrowDown")
    moved = page.value("document.activeElement.getAttribute('aria-label')")
    page.key("Enter")
    ok(moved and moved.startswith(page.value(root) + ":"), "arrows and Enter", moved)
    page.click("#view-flame-graph .tools button")
    ok("callers that were not seen" in page.value("document.getElementById('view-flame-graph').textContent"),
       "says what [unknown] is")


def main():
    path = sys.argv[1]
    report = json.load(open(sys.argv[2]))
    page = browser.Browser()
    try:
        page.open("file://" + os.path.abspath(path), "document.body && document.body.dataset.ready")
        ready = int(page.value("document.body.dataset.ready"))
        ok(ready < 2000, f"ready after {ready} ms")
        ok(page.value("document.title") == "ntrace: " + report["command"], "title", page.value("document.title"))
        test_functions(page, report)
        search(page, "")
        if report["functions"] and page.value("!!document.getElementById('tab-flame-graph')"):
            test_function(page, report)
        test_narrow(page)
        page.click("#tab-functions")
        titles = test_tabs(page)
        test_timeline(page, report)
        test_branches(page)
        test_source(page, sys.argv[3])
        if "flame graph" in titles:
            test_flame(page, report)
        if len(sys.argv) > 4:
            search(page, "")
            page.value("document.activeElement.blur()")
            page.screenshot(sys.argv[4])
        page.click("#tab-lost")
        ok("no line numbers" in page.value("document.getElementById('view-lost').textContent"), "says what has no lines")
        time.sleep(0.2)
        ok(not page.complaints(), "no error in the console", *page.complaints())
        ok(set(page.requests()) == {"file://" + os.path.abspath(path)}, "nothing was asked for but the page", *page.requests())
    finally:
        page.close()
    done()


if __name__ == "__main__":
    main()
