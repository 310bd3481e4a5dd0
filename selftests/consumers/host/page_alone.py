#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Console output and requests of a page without user input.

usage: page_alone.py PAGE
Prints the title, "done" if a script of the command's name ran, then the number of
messages in the console and of requested addresses.

"""
import os
import sys
import time

import browser

page = browser.Browser()
try:
    page.open("file://" + os.path.abspath(sys.argv[1]), "document.body && document.body.dataset.ready")
    time.sleep(0.5)
    print(page.value("document.getElementById('title').textContent"))
    print(page.value("window.done ? 'done' : 'nothing'"), len(page.complaints()), len(page.requests()))
finally:
    page.close()
