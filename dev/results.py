#!/usr/bin/env python3
"""Says what the tests of a build have shown: dev/results.py SINCE BUILD_FOLDER LOG COMMAND...

Read are the reports in BUILD_FOLDER of each module that are newer than the file SINCE, and what Maven has said, in the file LOG. Prints
the counts, then each failed test with the beginning of what it said, the test classes without a report that the tier of COMMAND has,
the lines that Maven calls errors, and why tests were skipped. The exit code is 0 if tests were run, none failed, none was left out (a
module that does not compile, or hangs, keeps those that need it from being built, and Maven does not say which), each JVM that ran
some has ended well, and no warning of ours was printed: nothing else checks those of the tests of core and measure, which the test
kit is built upon.
"""
import collections
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOST_JVM = re.compile("timeout in the fork|error in the fork|error in starting fork|forked VM terminated")
SHOWN = 300
LINES_OF_MAVEN = 40
LINES_OF_SKIPPED = 12
LONGEST_REASON = 150
# Lines that Maven prints after any error, and those of tests that have failed, which the reports name.
SAID_ANYWAY = re.compile(r"\[ERROR\] ( {2,}|Tests run:|Failures:|Errors:|There are test failures|\S+ -- Time elapsed|\[Help|-> \[Help|To see the full"
                         r"|Re-run Maven|For more information|After correcting|See .*dump files|See .*individual test results|\tat )")
# What Surefire takes for a test class by its name, and what makes one of it.
TEST_NAME = re.compile(r"Test\w*|\w+(Test|Tests|TestCase)")
TEST_METHOD = re.compile(r"^\s*@(Test|Nested|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate)\b", re.MULTILINE)
# The classes that pom.xml selects, by their tags; with -Dbeyond, those of the tier alone.
TIERS = {
    "fast": lambda tags: not tags & {"stores", "all"} or "fast" in tags,
    "stores": lambda tags: "all" not in tags,
    "all": lambda tags: True,
}
# "-Dtest" and the like: what is run then, the sources do not say.
PARTLY = ("-Dtest=", "-Dgroups=", "-pl", "--projects", "-rf", "--resume-from")
# As java.util.logging prints it, and as the test kit does where no test can be blamed (Journal). If the timer ran late, the machine was
# slow; and the processes of a verification, whose locks have a name of their own, are stopped and cut off on purpose.
WARNING = re.compile(r"^(?:.* (?P<by>io\.holdfast\.[\w.$]+) [\w$<>]+\n(?:WARNING|SEVERE):|warning of no test: (?:WARNING|SEVERE))"
                     r" (?!the timer ran .* late:|lock=holdfast-verify/.*(?:hold lost|did not confirm its end))(?P<said>.*)$", re.MULTILINE)


def read(root, folder, since):
    """How many tests were run since then, why some were skipped, how often, and those that failed, each with what it said."""
    count, skipped, failed = 0, collections.Counter(), []
    for report in sorted(root.glob(f"*/{folder}/surefire-reports/TEST-*.xml")):
        if report.stat().st_mtime < since:
            continue
        suite = ElementTree.parse(report).getroot()
        of = suite.get("name", "").rsplit(".", 1)[-1]
        for case in suite.iter("testcase"):
            count += 1
            if case.find("skipped") is not None:
                skipped[reason(case.find("skipped"))] += 1
            problem = case.find("failure") if case.find("failure") is not None else case.find("error")
            if problem is not None:
                # a suite of a contract is a class of its own, nested
                group = case.get("classname", "").rsplit("$", 1)[1:]
                name = ".".join([of, *group, case.get("name") or "set-up"])
                failed.append((name, " ".join((problem.get("message") or problem.text or "").split())))
    return count, skipped, failed


def reason(skipped):
    """Why a test was skipped: the first line, without the exception that said it."""
    said = (skipped.get("message") or skipped.text or "without a reason").strip().splitlines()[0]
    return re.sub(r"^(?:[\w.]+Exception: )?(?:Assumption failed: )?", "", said)[:LONGEST_REASON]


def lost_jvm(log):
    """The first line that tells of a JVM which left no report; nothing if there is none."""
    return next((line for line in log.splitlines() if LOST_JVM.search(line)), None)


def warning(log):
    """The first warning of ours that was printed, with the class that logged it; nothing if there is none."""
    printed = WARNING.search(log)
    return printed and f"{printed['said']} ({printed['by'] or 'when its test had ended'})"


def errors(log):
    """What Maven calls an error, each line once, without what it says anyway."""
    said = re.findall(r"^\[ERROR\] .*[a-z].*$", log, re.MULTILINE)
    return [line.strip() for line in dict.fromkeys(said) if not SAID_ANYWAY.match(line)]


def source_of(root, test, module):
    """Where a class is. Several modules may have one of that name: the module's own is meant."""
    places = [*root.glob(f"{module}/src/*/java/**/{test}.java"), *root.glob(f"holdfast-*/src/*/java/**/{test}.java")]
    return places[0] if places else None


def lineage(root, source):
    """The text of a class, and of those that it extends, as far as they are ours."""
    while source:
        text = source.read_text(encoding="utf-8")
        yield text
        parent = re.search(rf"\bclass {source.stem}\b[^{{]*?\bextends (\w+)", text)
        source = source_of(root, parent[1], source.relative_to(root).parts[0]) if parent else None


def tags_of(root, source):
    """The tags of a test class, and of those that it extends."""
    return set().union(*(re.findall(r'^@Tag\("(\w+)"\)', text, re.MULTILINE) for text in lineage(root, source)))


def is_test(root, source):
    texts = list(lineage(root, source))
    return not re.search(rf"\babstract (?:\w+ )*class {source.stem}\b", texts[0]) and any(TEST_METHOD.search(text) for text in texts)


def expected(root, command):
    """The names of the reports that a command of Maven has to leave, by module."""
    if any(option.startswith(PARTLY) for option in command):
        return {}
    tier = next((option[2:] for option in command if option[:2] == "-P" and option[2:] in TIERS), "fast")
    is_beyond = any(option.startswith("-Dbeyond") for option in command)
    names = collections.defaultdict(set)
    for module in re.findall(r"<module>([\w-]+)</module>", (root / "pom.xml").read_text(encoding="utf-8")):
        sources = root / module / "src" / "test" / "java"
        for source in sources.glob("**/*.java"):
            if TEST_NAME.fullmatch(source.stem) and is_test(root, source):
                tags = tags_of(root, source)
                name = ".".join(source.relative_to(sources).with_suffix("").parts)
                if tags & {tier, "matrix"} if is_beyond else TIERS[tier](tags):
                    names[module].add(name)
                if tier == "all" and "oldest" in tags:
                    names[module].add(f"{name}-oldest")
    return names


def not_run(root, folder, since, command):
    """The test classes that should have been run since then, and have left no report with a test; by module."""
    missing = {}
    for module, names in sorted(expected(root, command).items()):
        reports = {name: root / module / folder / "surefire-reports" / f"TEST-{name}.xml" for name in names}
        missing[module] = sorted(name.rsplit(".", 1)[-1] for name, report in reports.items()
                                 if not report.exists() or report.stat().st_mtime < since or "<testcase" not in report.read_text(encoding="utf-8"))
    return {module: names for module, names in missing.items() if names}


def main():
    began, folder, log, *command = sys.argv[1:]
    since = pathlib.Path(began).stat().st_mtime
    count, skipped, failed = read(ROOT, folder, since)
    missing = not_run(ROOT, folder, since, command)
    text = pathlib.Path(log).read_text(encoding="utf-8", errors="replace")
    lost = lost_jvm(text)
    left_out = sum(len(names) for names in missing.values())
    print(f"{count} tests, {len(failed)} failed, {sum(skipped.values())} skipped" + (f", {left_out} test classes not run" if left_out else ""))
    for name, message in failed:
        print(f"      {name}: {message[:SHOWN]}")
    for module, names in missing.items():
        print(f"      not run, in {module}: {', '.join(names)}")
    if lost:
        print(f"      a JVM of the tests was lost: {lost.strip()[:SHOWN]}")
    warned = warning(text)
    if warned:
        print(f"      a warning that no test has announced: {warned[:SHOWN]}")
    said = errors(text)
    for line in said[:LINES_OF_MAVEN]:
        print(f"      Maven: {line[:SHOWN]}")
    if len(said) > LINES_OF_MAVEN:
        print(f"      Maven: and {len(said) - LINES_OF_MAVEN} lines more")
    for why, times in skipped.most_common(LINES_OF_SKIPPED):
        print(f"      skipped {times}: {why}")
    others = [times for _, times in skipped.most_common()[LINES_OF_SKIPPED:]]
    if others:
        print(f"      skipped {sum(others)} more, for {len(others)} other reasons")
    sys.exit(0 if count and not failed and not missing and not lost and not warned else 1)


if __name__ == "__main__":
    main()
