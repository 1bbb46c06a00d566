"""What may be typed."""

import contextlib
import io
import json
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SkipTest, SynchronousTestCase

import ganeti_tx
from ganeti_tx.burnin.command_words import LEAVE_OUT, parser, read_words
from ganeti_tx.burnin.run import CONFD_OPTION
from ganeti_tx.burnin.steps import STEPS
from ganeti_tx.burnin.wanted import Wanted
from ganeti_tx.model.enums import DiskTemplate

FACTS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "facts" / "options.json").read_text())["options"]
#: A value of each type, as it is typed and as it is read.
SAMPLES = {
    "choice": ("plain", "plain"),
    "identkeyval": ("kvm:acpi=no", ("kvm", {"acpi": "no"})),
    "int": ("17", 17),
    "keyval": ("a=1,no_b", {"a": "1", "b": False}),
    "string": ("text", "text"),
    "unit": ("1g", 1024),
}
#: Ganeti reads the number of processors as if it were a size, so that 1 is 4.
OTHERWISE = {"vcpu_count": ("5", 5)}
#: Without --os nothing can be made, so here it must be given; a text that is empty where Ganeti has an empty list.
OWN_DEFAULTS = {"os": None, "reason": ""}


class TableTests(SynchronousTestCase):
    """Ganeti's tool has these options (its table is in facts/)."""

    def test_each(self) -> None:
        """Each is read as there, and has the same value where it is not given."""
        usual = vars(parser().parse_args(["-o", "noop", "web1"]))
        for fact in FACTS:
            dest = fact["dest"]
            if dest != "os":
                self.assertEqual(usual[dest], OWN_DEFAULTS.get(dest, fact["default"]), dest)
            typed, value = OTHERWISE.get(dest) or SAMPLES.get(fact.get("type", ""), ("", None))
            for flag in (*fact["short"], *fact["long"]):
                words = [flag, typed] if fact["takes_value"] else [flag]
                read = vars(parser().parse_args(["-o", "noop", *words, "web1"]))[dest]
                self.assertEqual(read, value if fact["takes_value"] else self.of_switch(fact), flag)

    @staticmethod
    def of_switch(fact: dict[str, Any]) -> Any:
        """What an option without value stores when it is given once."""
        return {"store_true": True, "store_false": False, "count": 1, "store_const": fact.get("const")}[fact["action"]]

    def test_no_other(self) -> None:
        """There is none besides, but for those that all programs have; the disk templates are the same."""
        known = {flag for action in parser()._actions for flag in action.option_strings}
        theirs = {flag for fact in FACTS for flag in (*fact["short"], *fact["long"])}
        self.assertEqual(known ^ theirs, {"-h", "--help", "--version"})
        [templates] = [fact["choices"] for fact in FACTS if fact["dest"] == "disk_template"]
        [action] = [each for each in parser()._actions if each.dest == "disk_template"]
        self.assertEqual(set(action.choices or ()), set(templates))

    def test_steps(self) -> None:
        """Each option that leaves a step out is that of a step, and all of Ganeti's are there."""
        theirs = {fact["dest"] for fact in FACTS if fact["dest"].startswith("do_")}
        self.assertEqual(set(LEAVE_OUT), theirs)
        self.assertEqual({step.option for step in STEPS if step.option} | {CONFD_OPTION}, theirs)

    def test_page(self) -> None:
        """The page has every step, with its option, in the order in which they are done."""
        page = Path(ganeti_tx.__file__).parents[1] / "doc/design/burnin.rst"
        if not page.exists():
            raise SkipTest("there are no documents beside an installed package")
        lines = page.read_text().splitlines()
        rows = [(line[:39].strip(), line[39:65].strip().strip("`")) for line in lines]
        wanted = [(step.title, LEAVE_OUT[step.option][0] if step.option else None) for step in STEPS]
        titles = {title for title, _ in wanted}
        found = [row for row in rows if row[0] in titles]
        self.assertEqual([title for title, _ in found], [title for title, _ in wanted])
        self.assertEqual(
            [(title, option) for title, option in wanted if option],
            [row for row, (_, option) in zip(found, wanted, strict=True) if option],
        )


class WordsTests(SynchronousTestCase):
    """The command line."""

    def read(self, *words: str) -> Wanted:
        """What is meant by it."""
        return read_words(parser(), ["-o", "noop", *words, "web1", "web2"])

    def refused(self, reason: str, *words: str) -> None:
        """It is a mistake, told in a line."""
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            error = self.assertRaises(SystemExit, self.read, *words)
        self.assertEqual(error.code, 2)
        self.assertIn(reason, err.getvalue().splitlines()[-1])

    def test_usual(self) -> None:
        """Without options."""
        wanted = self.read()
        self.assertIs(wanted.template, DiskTemplate.DRBD)
        self.assertEqual((wanted.disk_sizes, wanted.disk_growth), ((1024,), (128,)))
        self.assertEqual((wanted.minmem, wanted.maxmem, wanted.vcpus), (128, 256, 3))
        self.assertEqual([each.value for each in wanted.reboot_types], ["full", "hard", "soft"])
        self.assertEqual((wanted.nics, wanted.nodes, wanted.left_out), (({},), (), frozenset()))

    def test_values(self) -> None:
        """They have their types, and options may stand behind the names."""
        line = "web1 -o noop --mem-size=1g -H kvm:acpi=no,kernel_path= -n node1,node2 -t plain --disk-size=1g,2g"
        line += " --disk-growth=0,64m --reboot-types=soft,soft --no-name-check --no-move"
        wanted = read_words(parser(), line.split())
        self.assertEqual((wanted.minmem, wanted.maxmem), (1024, 1024))
        self.assertEqual((wanted.hypervisor, wanted.hvparams), ("kvm", {"acpi": False, "kernel_path": ""}))
        self.assertEqual((wanted.nodes, wanted.left_out), (("node1", "node2"), {"do_move"}))
        self.assertEqual((wanted.disk_sizes, wanted.disk_growth), ((1024, 2048), (0, 64)))
        self.assertEqual([each.value for each in wanted.reboot_types], ["soft"])
        self.assertFalse(wanted.ip_check)

    def test_mistakes(self) -> None:
        """Each is told with what is wrong, and what would be right."""
        self.refused("an instance is given twice", "web1")
        self.refused("--rename: 'web2' is one of the instances", "--rename=web2")
        self.refused("give it, or --nodes", "-I", "hail", "-n", "node1")
        self.refused("a node is given twice", "-n", "node1,node1")
        self.refused("--minmem-size: 512 MiB are more than --maxmem-size, 256 MiB", "--minmem-size=512m")
        self.refused("give one for each disk of --disk-size, that is 2", "--disk-size=1g,1g")
        self.refused("--disk-size: a disk needs a size above 0", "--disk-size=0")
        self.refused("--disk-size: invalid size 'big'", "--disk-size=big")
        self.refused("--disk-growth: invalid size '-1'", "--disk-growth=-1")
        self.refused("'warm' is not known; give some of full, hard, soft", "--reboot-types=soft,warm")
        self.refused("give some of full, hard, soft", "--reboot-types=")
        self.refused("--http-check needs network interfaces", "-C", "--no-nics")
        self.refused("'0' is not a number from 1 to 1024", "--vcpu-count=0")
        self.refused("'soon' is not a number from 0", "--net-timeout=soon")
        self.refused("give HYPERVISOR:KEY=VALUE", "-H", "no_kvm")
        self.refused("'acpi'", "-H", "kvm:acpi=perhaps")
        self.refused("invalid choice: 'blockdev'", "-t", "blockdev")
        self.refused("at most 1000 are allowed", *(f"web{number}" for number in range(3, 1002)))

    def test_missing(self) -> None:
        """An OS definition and a name must be given."""
        for words, missing in ((["web1"], "-o/--os"), (["-o", "noop"], "INSTANCE")):
            err = io.StringIO()
            with contextlib.redirect_stderr(err):
                error = self.assertRaises(SystemExit, read_words, parser(), words)
            self.assertEqual(error.code, 2)
            self.assertIn(f"required: {missing}", err.getvalue())
