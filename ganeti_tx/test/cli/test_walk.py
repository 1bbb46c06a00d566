"""Every subcommand of the table runs, and each of its options makes a difference that is the option's own."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ExitCode
from ganeti_tx.test.cli.test_facts import FACTS, commands
from ganeti_tx.test.cli.walk import Readings, Trace, scenery, traced
from ganeti_tx.test.cli.walk_cases import (
    BY_OPTION,
    BY_TYPE,
    CASES,
    IDLE,
    INSTANCES_FILE,
    JOBS_FILE,
    WORDS,
    Case,
)

#: What is in a value, as it leaves the program.
MARKS: Mapping[str, str] = {"17": "17", "3.5": "3.5", "3g": "3072", "high": "-10", "sample": "sample"}
JOBS = [{"OP_ID": "OP_TEST_DELAY", "duration": 0}]
INSTANCES = [
    {
        "mode": "create",
        "instance_name": "new1.example.com",
        "disk_template": "file",
        "disks": [{"size": 1024}],
        "nics": [],
    }
]
#: What options do that change nothing but the output: given that and what there is without, whether it is so.
SHOWS: Mapping[str, Callable[[str, str], object]] = {
    "--failure-only": lambda out, plain: not out and plain,
    "--include-defaults": lambda out, plain: len(out) > len(plain),
    "--no-headers": lambda out, plain: plain.split()[-len(out.split()) :] == out.split() != plain.split(),
    "--print-jobid": lambda out, plain: re.search(r"^\d+$", out, re.M) and not re.search(r"^\d+$", plain, re.M),
    "--roman": lambda out, plain: re.search(r"\b[IVXLCDM]+\b", out) and not re.search(r"\b[IVXL]+\b", plain),
    "--separator": lambda out, plain: "%" in out and "%" not in plain,
    "--show-machine-names": lambda out, plain: re.search(r"^\S+: ", out, re.M) and out != plain,
    "--timing-stats": lambda out, plain: re.search(r"^T:total ", out, re.MULTILINE),
    "--units": lambda out, plain: re.search(r"\d[MGT]\b", plain) and not re.search(r"\d[MGT]\b", out),
    "--verbose": lambda out, plain: len(out) > len(plain),
}


class Step(NamedTuple):
    """An option of a command, if any, with the runs with it and without."""

    command: str
    flag: str
    value: str
    case: Case
    run: Trace
    plain: Trace


def value_of(option: Mapping[str, Any], flag: str, case: Case) -> str:
    """One that the option takes."""
    usual = option["choices"][-1] if option.get("choices") else BY_TYPE[option["type"]]
    return case.values.get(flag) or BY_OPTION.get(flag) or str(usual)


def words_of(fact: Mapping[str, Any]) -> list[str]:
    """As few arguments as there may be, but one of each kind."""
    return [
        arg["choices"][0] if arg.get("choices") else WORDS[arg["kind"]]
        for arg in fact["args"]
        for _ in range(max(1, arg["min"]))
    ]


class WalkTests(SynchronousTestCase):
    """Down the whole table."""

    def setUp(self) -> None:
        self.cluster = scenery()
        self.addCleanup(self.cluster.end)
        self.readings = Readings(self.cluster)
        self.addCleanup(self.readings.close)
        for name, content in ((JOBS_FILE, JOBS), (INSTANCES_FILE, INSTANCES)):
            Path(name).write_text(json.dumps(content))
            self.addCleanup(Path(name).unlink)

    def run_command(self, command: str, case: Case, options: Sequence[str], words: Sequence[str]) -> Trace:
        """As it would be typed."""
        program, name = command.split()
        return traced(program, [name, *options, *words], self.readings, case.around)

    def steps(self) -> Iterator[Step]:
        """Every option of every command."""
        for program, name, _command, fact in commands():
            command = f"{program} {name}"
            case = CASES.get(command, Case())
            for option in fact["options"]:
                yield self.step(command, case, option, words_of(fact) if case.words is None else case.words)

    def step(self, command: str, case: Case, option: Mapping[str, Any], words: Sequence[str]) -> Step:
        """The option beside what it needs, and the same without it."""
        flag = next(iter([*option["long"], *option["short"]]))
        value = value_of(option, flag, case) if option["takes_value"] else ""
        given = [flag] if not value else [f"{flag}={value}"] if option["long"] else [flag, value]
        usual = [each for each in case.instead.get(flag, case.options) if each.partition("=")[0] != flag]
        beside = [*usual, *case.beside.get(flag, ())]
        words = case.other_words.get(flag, words)
        run = self.run_command(command, case, [*beside, *given], words)
        return Step(command, flag, value, case, run, self.run_command(command, case, beside, words))

    def test_each_command(self) -> None:
        """All 131 do their work."""
        done = []
        for program, name, _command, fact in commands():
            command = f"{program} {name}"
            case = CASES.get(command, Case())
            run = self.run_command(command, case, case.options, words_of(fact) if case.words is None else case.words)
            self.assertEqual(run.status, case.statuses.get("", ExitCode.SUCCESS), (command, run.out, run.err))
            self.assertTrue(run.sent or run.out, command)
            done.append(command)
        self.assertEqual(len(done), 131)
        self.assertEqual(set(CASES) - set(done), set())

    def test_each_option(self) -> None:
        """All 792 reach an opcode, a request or a program, or are seen in what is printed; a few are told that cannot."""
        idle, count = set(), 0
        for step in self.steps():
            count += 1
            where = (step.command, step.flag, step.value, step.run.out, step.run.err)
            self.assertEqual(step.run.status, step.case.statuses.get(step.flag, ExitCode.SUCCESS), where)
            if step.run.sent != step.plain.sent:
                self.assert_told(step)
            elif (step.run.out, step.run.err) != (step.plain.out, step.plain.err):
                self.assertTrue(SHOWS[step.flag](step.run.out, step.plain.out), where)
            else:
                idle.add((step.command, step.flag))
        self.assertEqual(count, 792)
        self.assertEqual(idle, set(IDLE))

    def assert_told(self, step: Step) -> None:
        """What is in the value is in what was sent, and not there without it."""
        sent, plain = json.dumps(step.run.sent), json.dumps(step.plain.sent)
        for text, mark in MARKS.items():
            if text in step.value:
                self.assertGreater(sent.count(mark), plain.count(mark), (step.command, step.flag, sent))

    def test_common_options(self) -> None:
        """Reason and debug level stand in the opcode of every command that submits one."""
        for program, name, _command, fact in commands():
            command = f"{program} {name}"
            case = CASES.get(command, Case())
            words = words_of(fact) if case.words is None else case.words
            run = self.run_command(command, case, [*case.options, "--reason=sample", "--debug"], words)
            for method, args in run.asked:
                if method in ("SubmitJob", "SubmitManyJobs"):
                    self.assertIn('["gnt:user", "sample", ', json.dumps(args), command)
                    self.assertIn('"debug_level": 1', json.dumps(args), command)


class TableTests(SynchronousTestCase):
    """The copy of the table."""

    def test_whole(self) -> None:
        """It has all of it."""
        subcommands = [fact for table in FACTS["commands"].values() for fact in table["subcommands"].values()]
        self.assertEqual(len(subcommands), 131)
        self.assertEqual(sum(len(fact["options"]) for fact in subcommands), 792)
