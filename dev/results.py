#!/usr/bin/env python3
"""Says what the tests of a build have shown: dev/results.py SINCE BUILD_FOLDER LOG.

Read are the reports in BUILD_FOLDER of each module that are newer than the file SINCE, and what Maven has said, in the file LOG. Prints
the counts, then each failed test with the beginning of what it said; if none failed, the first line that Maven calls an error. The
exit code is 0 if tests were run, none failed, each JVM that ran some has ended well (of one that hung or died there is no report), and
no warning of ours was printed: nothing else checks those of the tests of core and measure, which the test kit is built upon.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOST_JVM = re.compile("timeout in the fork|error in the fork|error in starting fork|forked VM terminated")
SHOWN = 300
# As java.util.logging prints it. If the timer ran late, the machine was slow; no test is at fault.
WARNING = re.compile(r"^.* (io\.holdfast\.[\w.$]+) [\w$<>]+\n(?:WARNING|SEVERE): (?!the timer ran .* late:)(.*)$", re.MULTILINE)


def read(root, folder, since):
    """How many tests were run and how many skipped since then, and those that failed, each with what it said."""
    count, skipped, failed = 0, 0, []
    for report in sorted(root.glob(f"*/{folder}/surefire-reports/TEST-*.xml")):
        if report.stat().st_mtime < since:
            continue
        suite = ElementTree.parse(report).getroot()
        of = suite.get("name", "").rsplit(".", 1)[-1]
        for case in suite.iter("testcase"):
            count += 1
            skipped += case.find("skipped") is not None
            problem = case.find("failure") if case.find("failure") is not None else case.find("error")
            if problem is not None:
                # a suite of a contract is a class of its own, nested
                group = case.get("classname", "").rsplit("$", 1)[1:]
                name = ".".join([of, *group, case.get("name") or "set-up"])
                failed.append((name, " ".join((problem.get("message") or problem.text or "").split())))
    return count, skipped, failed


def lost_jvm(log):
    """The first line that tells of a JVM which left no report; nothing if there is none."""
    return next((line for line in log.splitlines() if LOST_JVM.search(line)), None)


def warning(log):
    """The first warning of ours that was printed, with the class that logged it; nothing if there is none."""
    printed = WARNING.search(log)
    return printed and f"{printed.group(2)} ({printed.group(1)})"


def error(log):
    """The first line that Maven calls an error and that names something; nothing if there is none."""
    named = re.search(r"^\[ERROR\] .*[a-z].*$", log, re.MULTILINE)
    return named and named.group()


def main():
    since, folder, log = sys.argv[1:]
    count, skipped, failed = read(ROOT, folder, pathlib.Path(since).stat().st_mtime)
    text = pathlib.Path(log).read_text(encoding="utf-8", errors="replace")
    lost = lost_jvm(text)
    print(f"{count} tests, {len(failed)} failed, {skipped} skipped")
    for name, message in failed:
        print(f"      {name}: {message[:SHOWN]}")
    if lost:
        print(f"      a JVM of the tests was lost: {lost.strip()[:SHOWN]}")
    warned = warning(text)
    if warned:
        print(f"      a warning that no test has announced: {warned[:SHOWN]}")
    said = error(text)
    if said and not failed and not lost:
        print(f"      Maven: {said.strip()[:SHOWN]}")
    sys.exit(0 if count and not failed and not lost and not warned else 1)


if __name__ == "__main__":
    main()
