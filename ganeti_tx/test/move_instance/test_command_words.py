"""What may be typed."""

import contextlib
import io
import json
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.move_instance.command_words import Place, Wanted, parser, read_words

FACTS = json.loads((Path(__file__).parent / "facts" / "options.json").read_text())


class WordsTests(SynchronousTestCase):
    """The command line."""

    def read(self, *words: str) -> Wanted:
        """What is meant by it."""
        return read_words(parser(), [*words, "here", "there", "web1"])

    def refused(self, reason: str, *words: str) -> None:
        """It is a mistake, told in a line."""
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            error = self.assertRaises(SystemExit, read_words, parser(), words)
        self.assertEqual(error.code, 2)
        self.assertIn(reason, err.getvalue().splitlines()[-1])

    def test_ganetis(self) -> None:
        """All options of Ganeti's tool are there (its table is in facts/)."""
        known = {flag for action in parser()._actions for flag in action.option_strings}
        self.assertEqual(set(FACTS) - known, set())
        self.assertEqual(known - set(FACTS), {"-V", "--version", "--keep-source-instance", "--dest-hypervisor"})

    def test_places(self) -> None:
        """What is said of the source holds for the destination, unless it is said otherwise."""
        wanted = self.read("--src-username=eve", "--src-rapi-port=5081", "--src-ca-file=a.pem", "--dest-username=rob")
        self.assertEqual(
            wanted.source, Place(host="here", port=5081, authority=Path("a.pem"), user="eve", password=None)
        )
        self.assertEqual(
            wanted.destination, Place(host="there", port=5081, authority=Path("a.pem"), user="rob", password=None)
        )
        self.assertEqual(self.read().source.port, 5080)

    def test_values(self) -> None:
        """They have their types."""
        wanted = self.read(
            "--net=0:link=br1", "--net=0:mac=generate", "--net=2:ip=192.0.2.1", "-B", "memory=1G,vcpus=2", "-H", "acpi=no",
            "-O", "a=b", "-p", "3", "-I", "hail", "--opportunistic-tries=2", "--opportunistic-delay=0.5", "-vv",
        )  # fmt: skip
        self.assertEqual(wanted.nics, {0: {"link": "br1", "mac": "generate"}, 2: {"ip": "192.0.2.1"}})
        self.assertEqual((wanted.backend, wanted.hypervisor), ({"memory": 1024, "vcpus": 2}, {"acpi": False}))
        self.assertEqual((wanted.os, wanted.parallel, wanted.tries, wanted.delay), ({"a": "b"}, 3, 2, 0.5))
        self.assertEqual((wanted.allocator, wanted.verbosity, self.read("-d").verbosity), ("hail", 2, 2))

    def test_refused(self) -> None:
        """What does not go together, and values that are none."""
        places = ("here", "there")
        self.refused("required: INSTANCE", *places)
        self.refused("only for a single instance, and 2 are given", "--dest-instance-name=x", *places, "a", "b")
        self.refused("only for a single instance", "--dest-primary-node=x", *places, "a", "b")
        self.refused("an instance is given twice", *places, "a", "a")
        self.refused("but not both", "-I", "hail", "--dest-primary-node=n", *places, "a")
        self.refused("--dest-secondary-node needs --dest-primary-node", "--dest-secondary-node=n", *places, "a")
        self.refused("needs an allocator", "--opportunistic-tries=2", *places, "a")
        self.refused("'0' is not a number from 1 to 64", "-p", "0", *places, "a")
        self.refused("'x' is not a number from 1 to 65535", "--src-rapi-port=x", *places, "a")
        self.refused("'nan' is not a number from 0", "-I", "hail", "--opportunistic-delay=nan", *places, "a")
        self.refused("is not N:KEY=VALUE", "--net=eth0:link=br0", *places, "a")
        self.refused("is not N:KEY=VALUE", "--net=no_0", *places, "a")
        self.refused("Unknown parameter 'x'", "-B", "x=1", *places, "a")
        self.refused("duplicate key 'a'", "-O", "a=1,a=2", *places, "a")
