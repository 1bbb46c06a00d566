"""The page of the tools, and the options of ours, against Ganeti's table."""

import importlib
import json
import re
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.installation.contents import IN_LIB, IN_TOOLS
from ganeti_tx.installation.main import installed_programs
from ganeti_tx.tools import daemon_util

PROGRAMS = installed_programs()
ROOT = Path(__file__).parents[3]
PAGE = ROOT / "doc/tools.rst"
FACTS = json.loads((Path(__file__).parent / "facts/tools.json").read_text())
LEFT_OUT = "left out"
#: What is no program that is installed, but a file that is shipped, or a command.
OTHERWISE = {"master-ip-setup": ROOT / "etc/tools/master-ip-setup", "gnt-instance console": ROOT / "bin/gnt-instance"}
ROW = re.compile(r"^``([^`]+)``\s+(``[^`]+``|left out)\s+(\S.*|\\)$")


def rows() -> dict[str, tuple[str, str]]:
    """Of each tool what does its work here, and what is to be known."""
    found = {}
    for line in PAGE.read_text().splitlines():
        if row := ROW.match(line):
            assert row[1] not in found, row[1]
            found[row[1]] = (row[2].strip("`"), row[3].rstrip("\\").strip())
    return found


def parser_of(program: str) -> ArgumentParser:
    """The command line of one of our programs."""
    made = importlib.import_module(PROGRAMS[program].module).parser()
    assert isinstance(made, ArgumentParser)
    return made


class PageTests(SynchronousTestCase):
    """Every tool has a line that is true."""

    def test_all(self) -> None:
        """26 of 26."""
        self.assertEqual(set(rows()), set(FACTS["tools"]))
        self.assertEqual(len(rows()), 26)

    def test_there(self) -> None:
        """What is named as doing the work is there; what is left out has a reason."""
        for tool, (here, known) in rows().items():
            if here == LEFT_OUT:
                self.assertNotEqual(known, "", tool)
                self.assertNotIn(tool, PROGRAMS)
            elif here in OTHERWISE:
                self.assertTrue(OTHERWISE[here].exists(), tool)
            else:
                self.assertIn(here, PROGRAMS, tool)
                self.assertTrue((ROOT / "bin" / here).exists(), here)

    def test_linked(self) -> None:
        """Scripts find those of the same name where Ganeti has them, and only such."""
        public = {tool for tool, (here, _known) in rows().items() if here == tool} & set(PROGRAMS)
        self.assertEqual(public - {"check-cert-expired"}, IN_TOOLS)
        self.assertLessEqual(IN_LIB, set(PROGRAMS) & set(FACTS["daemons"]))

    def test_actions(self) -> None:
        """Those of daemon-util are Ganeti's."""
        self.assertEqual(set(daemon_util.ACTIONS), set(FACTS["daemons"]["daemon-util"]["commands"]))


class OptionTests(SynchronousTestCase):
    """Programs written for Ganeti's tools find their options."""

    def options(self) -> Iterator[tuple[str, ArgumentParser, dict[str, Any]]]:
        """Of each program that is ours, what the table says."""
        kinds = (*FACTS["tools"].items(), *FACTS["daemons"].items())
        ours = {tool: here for tool, (here, _known) in rows().items() if here in (tool, f"ganeti-{tool}")}
        ours |= {"ganeti-cleaner": "ganeti-cleaner", "ganeti-watcher": "ganeti-watcher"}
        for tool, fact in kinds:
            program = ours.get(tool)
            if program is not None and program not in OTHERWISE:
                for option in fact["options"]:
                    yield program, parser_of(program), option

    def test_each(self) -> None:
        """Every spelling is there; where the table knows, a value follows or not."""
        seen = set()
        for program, parser, option in self.options():
            seen.add(program)
            actions = {id(parser._option_string_actions.get(flag)): flag for flag in option["flags"]}
            for flag in option["flags"]:
                self.assertIn(flag, parser._option_string_actions, program)
            self.assertEqual(len(actions), 1, (program, option))
            if any(flag.startswith("--") for flag in option["flags"]):
                action = parser._option_string_actions[option["flags"][0]]
                self.assertEqual(action.nargs != 0, option["takes_value"], (program, option))
        self.assertLessEqual(
            {"cfgupgrade", "cluster-merge", "move-instance", "confd-client", "query-config", "sanitize-config"}, seen
        )
