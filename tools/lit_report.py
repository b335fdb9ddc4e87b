#!/usr/bin/env python3
"""Says why lit tests were skipped, and counts: lit_report.py RESULTS.json (of `lit -o`).

The last line is `counts: PASSED FAILED SKIPPED`.
"""

import json
import sys

PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def main():
    with open(sys.argv[1]) as file:
        tests = json.load(file)["tests"]
    passed = failed = skipped = 0
    for test in tests:
        if test["code"] in PASSED:
            passed += 1
        elif test["code"] in SKIPPED:
            skipped += 1
            reason = " ".join(test["output"].split()) or test["code"].lower()
            print(f"skipped {test['name']}: {reason}")
        else:
            failed += 1
    print(f"counts: {passed} {failed} {skipped}")


main()
