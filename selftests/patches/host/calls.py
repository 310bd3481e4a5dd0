# SPDX-License-Identifier: GPL-2.0-only
"""Prints how often a function was called, from `ntrace export -f csv`.

usage: calls.py CSV ELF FUNCTION
A call is a taken transfer to the first instruction of the function.
"""
import csv
import subprocess
import sys

symbols = subprocess.run(["riscv64-linux-gnu-nm", sys.argv[2]], capture_output=True, text=True, check=True).stdout
start = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.split()[-1] == sys.argv[3])
with open(sys.argv[1], encoding="utf-8") as file:
    print(sum(int(row["count"]) for row in csv.DictReader(file) if int(row["start"], 0) == start and row["taken"] == "1"))
