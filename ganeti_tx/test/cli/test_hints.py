"""Tests of what is said to somebody who mistyped a name, a command, an option or one of its values."""

from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ECode, LuxiError, OpPrereqError, ParameterError
from ganeti_tx.luxi.transport_errors import NoMasterError
from ganeti_tx.model.nearest import nearest, one_slip
from ganeti_tx.test.cli.fakes import CommandLine, answer_of

REFUSED = "Failure: prerequisites not met for this operation:\nerror type: unknown_entity, error details:\n"


class NearestTests(SynchronousTestCase):
    """The word that was meant."""

    def test_slips(self) -> None:
        """A letter more, less, another one, or two of them swapped."""
        for typed in ("wbe1", "web", "web11", "wex1", "xweb1"):
            self.assertTrue(one_slip(typed, "web1"), typed)
        for typed in ("wbe2", "we", "bew1", "web1234"):
            self.assertFalse(one_slip(typed, "web1"), typed)

    def test_hosts(self) -> None:
        """By as many parts as were typed, and whatever the case."""
        known = ["web1.dev.example", "db.dev.example"]
        self.assertEqual(nearest("WBE1", known), ["web1.dev.example"])
        self.assertEqual(nearest("web1.dve", known), ["web1.dev.example"])
        self.assertEqual(nearest("databse", ["database1", "web"]), ["database1"])
        for typed in ("nosuch", "", "x", "d", "w" * 1000):
            self.assertEqual(nearest(typed, known), [])

    def test_many(self) -> None:
        """Three at most, and of ten thousand the one that is a slip away."""
        known = [f"inst{number:05}.example" for number in range(10_000)]
        self.assertEqual(nearest("isnt04711", known), ["inst04711.example"])
        self.assertEqual(len(nearest("inst0471", known)), 3)


class HintCase(SynchronousTestCase):
    """Commands of a master that knows some things."""

    def setUp(self) -> None:
        self.cli = CommandLine()
        self.known: dict[str, list[str]] = {}
        self.cli.client.answers["Query"] = self.query

    def query(self, what: str, fields: list[str], condition: Any) -> dict[str, Any]:
        """The names of a kind."""
        return answer_of(("name", "text", "Name"), rows=[[name] for name in self.known.get(what, [])])

    def refused(self, text: str, ecode: ECode = ECode.NOENT) -> str:
        """What the job of a command says that was refused."""
        self.cli.client.results["OP_INSTANCE_REMOVE"] = OpPrereqError(text, ecode)
        return self.cli("gnt-instance", "remove", "-f", "x").err


class NameTests(HintCase):
    """Names of the cluster."""

    def test_kinds(self) -> None:
        """Behind the error, whose own lines stay; by all words with which errors speak of what is not there."""
        for text, kind in (
            ("Instance 'wbe1' not known", "instance"),
            ("Node 'wbe1' not known", "node"),
            ("Node name wbe1 not found", "node"),
            ("Node group 'wbe1' not found", "group"),
            ("NodeGroup name wbe1 not found", "group"),
            ("Network 'wbe1' not found", "network"),
        ):
            self.known = {kind: ["web1.example"]}
            self.assertEqual(self.refused(text), f"{REFUSED}{text}\nDid you mean web1.example?\n")

    def test_definitions(self) -> None:
        """Operating systems are those of this node, with their variants and without."""
        root = Path(self.mktemp()).absolute()
        self.cli.environ["GANETI_ROOTDIR"] = str(root)
        definition = root / "srv/ganeti/os/busybox"
        definition.mkdir(parents=True)
        (definition / "ganeti_api_version").write_text("20\n")
        (definition / "variants.list").write_text("default\n")
        self.assertTrue(self.refused("OS 'busibox' not found on this node").endswith("\nDid you mean busybox?\n"))

    def test_nothing_near(self) -> None:
        """Then there is the error alone, as Ganeti has it."""
        self.known = {"instance": ["web1.example"]}
        self.assertEqual(self.refused("Instance 'nosuch' not known"), f"{REFUSED}Instance 'nosuch' not known\n")

    def test_no_names(self) -> None:
        """And where names cannot be asked for."""
        for error in (LuxiError("away"), NoMasterError("nobody")):
            self.cli.client.answers["Query"] = raising(error)
            self.assertEqual(self.refused("Instance 'wbe1' not known"), f"{REFUSED}Instance 'wbe1' not known\n")

    def test_listed(self) -> None:
        """Of what an error lists itself the nearest is named."""
        text = "hypervisor 'kwm' is not known; there are fake, kvm"
        self.assertTrue(self.refused(text, ECode.INVAL).endswith(f"{text}\nDid you mean kvm?\n"))
        text = 'OP_X.kinds[0]: expected one of fake, kvm, lxc, got "kwm"'
        self.assertTrue(self.refused(text, ECode.INVAL).endswith("Did you mean kvm?\n"))
        self.cli.client.results["OP_INSTANCE_REMOVE"] = ParameterError(
            "hvparams.acpy: unknown parameter, allowed are acpi, boot_order"
        )
        self.assertTrue(self.cli("gnt-instance", "remove", "-f", "x").err.endswith("\nDid you mean acpi?\n"))

    def test_fields(self) -> None:
        """Of a list, and of a filter."""
        answer = answer_of(("nmae", "unknown", "nmae"), rows=[])
        self.cli.client.answers["Query"] = lambda *_: answer
        self.cli.client.answers["QueryFields"] = lambda *_: answer_of(("name", "text", "Name"))
        err = "Warning: Queried for unknown fields nmae\nDid you mean name?\n"
        self.assertEqual(self.cli("gnt-node", "list", "-o", "nmae").err, err)
        self.cli.client.answers["Query"] = raising(OpPrereqError("unknown field 'nmae' in filter", ECode.INVAL))
        self.assertTrue(self.cli("gnt-node", "list", "nmae == 1").err.endswith("filter\nDid you mean name?\n"))

    def test_filters_and_tags(self) -> None:
        """A rule of job filters by its uuid, a tag among those that the object has."""
        self.known["filter"] = ["0a1b2c3d-aaaa", "ffffffff-bbbb"]
        self.assertIn("Did you mean 0a1b2c3d-aaaa?", self.refused("filter '0a1b2c3e-aaaa' not known"))
        self.assertIn("Did you mean blue?", self.refused("Tag(s) 'bleu' not found; there are blue, red"))

    def test_none_selected(self) -> None:
        """Where no instance was found the name that was typed is told, and the nearest one."""
        self.known["instance"] = ["web1.example"]
        self.cli.client.answers["QueryInstances"] = lambda *_: []
        err = self.cli("gnt-instance", "startup", "wbe1").err
        self.assertTrue(err.endswith("any instances: instance 'wbe1' not known\nDid you mean web1.example?\n"), err)

    def test_of_several(self) -> None:
        """Of each job that fails, when a command has several."""
        self.known["instance"] = ["web1.example"]
        self.cli.client.results["OP_INSTANCE_STARTUP"] = OpPrereqError("Instance 'wbe1' not known", ECode.NOENT)
        self.assertIn("'wbe1' not known\nDid you mean web1.example?\n", self.cli("gnt-instance", "startup", "wbe1").err)
        self.assertIn("\nDid you mean web1.example?\n", self.cli("gnt-job", "watch", "1").err)


class TypedTests(HintCase):
    """What the command itself knows."""

    def err(self, *words: str) -> str:
        """What is said, by a command that asks nobody."""
        err = self.cli(*words).err
        self.assertEqual(self.cli.client.calls, [])
        return err

    def test_commands(self) -> None:
        """Behind the list of commands; aliases count."""
        self.assertTrue(self.err("gnt-instance", "lits").endswith("startup\nDid you mean list?\n"))
        self.assertTrue(self.err("gnt-job", "shwo").endswith("\nDid you mean show?\n"))
        self.assertTrue(self.err("gnt-job", "nosuch").endswith(", watch\n"))

    def test_options(self) -> None:
        """In the line of the error."""
        self.assertEqual(
            self.err("gnt-instance", "add", "--hypervsior=kvm", "x"),
            "gnt-instance add: no such option: --hypervsior (did you mean --hypervisor?)\n",
        )
        self.assertEqual(
            self.err("gnt-node", "list", "--seperator=x"),
            "gnt-node list: no such option: --seperator (did you mean --separator?)\n",
        )
        self.assertEqual(self.err("gnt-node", "list", "-x"), "gnt-node list: no such option: -x\n")
        self.assertEqual(self.err("gnt-node", "list", "--nosuch"), "gnt-node list: no such option: --nosuch\n")

    def test_values(self) -> None:
        """Templates, priorities, arguments of a choice, parameters."""
        for words, end in (
            (("gnt-instance", "add", "-t", "plian", "x"), "(did you mean plain?)"),
            (("gnt-instance", "startup", "--priority=hihg", "x"), "(did you mean high?)"),
            (("gnt-node", "power", "cylce", "x"), "(did you mean cycle?)"),
            (("gnt-instance", "modify", "-B", "memroy=1", "x"), "Did you mean memory?"),
            (("gnt-instance", "add", "-t", "diskless", "-o", "x", "--net", "0:lnik=br0", "x"), "Did you mean link?"),
        ):
            self.assertTrue(self.err(*words).endswith(f"{end}\n"), self.err(*words))


def raising(error: Exception) -> Any:
    """Answers with an error."""

    def raise_it(*_args: Any) -> None:
        raise error

    return raise_it
