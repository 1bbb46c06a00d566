"""Tests of what programs get: documents in JSON, YAML and CSV instead of text."""

import csv
import importlib
import io
import json
import re
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as some
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.main import program_named
from ganeti_tx.cli.parsing import parse
from ganeti_tx.cli.program import load
from ganeti_tx.cli.tree import Parameters, Part, Told, tree_lines
from ganeti_tx.cli.tree_values import value_of
from ganeti_tx.cli.yaml_text import yaml_text
from ganeti_tx.errors import JobLost, OpExecError
from ganeti_tx.model.config_data import encode
from ganeti_tx.model.node_files import CONFIG
from ganeti_tx.test.cli.fakes import CommandLine, Terminal, answer_of
from ganeti_tx.test.cli.test_facts import FACTS
from ganeti_tx.test.cli.test_lists import INSTANCES
from ganeti_tx.test.config.stores import CONFIG as SAMPLE

#: PyYAML, which is there for the tests and has no types.
YAML: Any = importlib.import_module("yaml")
FIRST = {
    "name": "web1.example.com", "be/memory": 1536, "vcpus": 2, "admin_up": True, "tags": ["a", "b"], "oper_ram": 1536,
}  # fmt: skip
VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False, allow_infinity=False) | some.text(),
    lambda inner: some.lists(inner) | some.dictionaries(some.text(), inner),
    max_leaves=20,
)


class ListTests(SynchronousTestCase):
    """gnt-instance list stands for all lists."""

    def setUp(self) -> None:
        self.cli = CommandLine()
        self.cli.client.answers["Query"] = lambda *_: INSTANCES

    def json(self, *words: str) -> Any:
        """What it says."""
        outcome = self.cli("gnt-instance", "list", "--output-format", "json", *words)
        self.assertEqual((outcome.status, outcome.err), (0, ""))
        return json.loads(outcome.out)

    def test_types(self) -> None:
        """Names of fields are the keys; numbers, flags and lists are that, sizes are MiB; what could not be had is null."""
        first, second, *_others = self.json()
        self.assertEqual(first, FIRST)
        self.assertEqual(second["oper_ram"], None)

    def test_text_only(self) -> None:
        """What shapes text does not touch values."""
        self.assertEqual(self.json("--no-headers", "--separator=||", "--units=g"), self.json())

    def test_absent(self) -> None:
        """--verbose tells why a value is null."""
        absent = [record["_absent"] for record in self.json("-v")]
        self.assertEqual(absent, [{}, {"oper_ram": "unavail"}, {"oper_ram": "offline"}, {"oper_ram": "nodata"}])

    def test_yaml(self) -> None:
        """The same in YAML."""
        outcome = self.cli("gnt-instance", "list", "--output-format=yaml")
        self.assertEqual(YAML.safe_load(outcome.out), self.json())

    def test_csv(self) -> None:
        """A row of names, then one for each record; lists are JSON, what could not be had is empty; lines end with CR LF."""
        out = self.cli("gnt-instance", "list", "--output-format=csv").out
        self.assertEqual(
            out.split("\r\n")[:3],
            [
                "name,be/memory,vcpus,admin_up,tags,oper_ram",
                'web1.example.com,1536,2,true,"[""a"", ""b""]",1536',
                "db,512,12,false,[],",
            ],
        )

    def test_csv_options(self) -> None:
        """--no-headers leaves the names out, --separator is one other character."""
        out = self.cli("gnt-instance", "list", "--output-format=csv", "--no-headers", "--separator=;").out
        self.assertEqual(out.split("\r\n")[1], "db;512;12;false;[];")
        for separator in ("||", '"', "\n"):
            outcome = self.cli("gnt-instance", "list", "--output-format=csv", f"--separator={separator}")
            self.assertEqual((outcome.status, outcome.out), (2, ""))
            self.assertIn(repr(separator), outcome.err)

    def test_nothing(self) -> None:
        """An empty list is one; CSV has the names still."""
        self.cli.client.answers["Query"] = lambda *_: answer_of(("name", "text", "Name"), ("x", "number", "X"))
        self.assertEqual(self.json(), [])
        self.assertEqual(self.cli("gnt-instance", "list", "--output-format=csv").out, "name,x\r\n")
        self.assertEqual(YAML.safe_load(self.cli("gnt-instance", "list", "--output-format=yaml").out), [])

    def test_unknown_field(self) -> None:
        """The warning and the exit status stay."""
        answer = answer_of(("name", "text", "Name"), ("x", "unknown", "x"), rows=[["a", (1, None)]])
        self.cli.client.answers["Query"] = lambda *_: answer
        outcome = self.cli("gnt-instance", "list", "--output-format=json")
        self.assertEqual((outcome.status, outcome.err), (14, "Warning: Queried for unknown fields x\n"))
        self.assertEqual(json.loads(outcome.out), [{"name": "a", "x": None}])

    def test_invalid(self) -> None:
        """A format that there is not is one line with those there are."""
        outcome = self.cli("gnt-instance", "list", "--output-format=xml")
        self.assertEqual((outcome.status, outcome.out), (2, ""))
        self.assertEqual(outcome.err.count("\n"), 1)
        said = "gnt-instance list: option --output-format: invalid choice: 'xml' (choose from 'json', 'yaml', 'csv')"
        self.assertTrue(outcome.err.startswith(said), outcome.err)

    def test_times_of_jobs(self) -> None:
        """Pairs of seconds and microseconds are seconds."""
        fields = [
            ("id", "number", "ID"),
            ("received_ts", "other", "R"),
            ("opstart", "other", "S"),
            ("end_ts", "other", "E"),
        ]
        self.cli.client.answers["Query"] = lambda *_: answer_of(*fields, rows=[[7, [5, 250000], [[6, 0], None], None]])
        [record] = json.loads(self.cli("gnt-job", "list", "--output-format=json").out)
        self.assertEqual(record, {"id": 7, "received_ts": 5.25, "opstart": [6.0, None], "end_ts": None})

    def test_jobs_that_are_not_there(self) -> None:
        """Whoever waits for one, or asks what it is, gets it as a job without a status, and is told why."""

        def lost(*_: Any) -> None:
            raise JobLost("job 9 is not in the queue")

        self.cli.client.answers["WaitForJobChange"] = lost
        self.cli.client.answers["QueryJobs"] = lambda *_: [None]
        for command, status in (("watch", 1), ("wait", 1), ("info", 0)):
            outcome = self.cli("gnt-job", command, "--output-format=json", "9")
            record = json.loads(outcome.out)
            record = record if command == "wait" else record[0]
            self.assertEqual((outcome.status, record["status"], 9 in record.values()), (status, None, True), command)
            self.assertIn("9 ", outcome.err)

    def test_errors_stay_text(self) -> None:
        """What goes wrong is told as ever, and there is no document."""
        self.cli.client.results["OP_INSTANCE_QUERY_DATA"] = OpExecError("no")
        outcome = self.cli("gnt-instance", "info", "--output-format=json", "web1")
        self.assertEqual((outcome.status, outcome.out), (1, ""))
        self.assertEqual(outcome.err, "Failure: command execution error:\nno\n")


class OtherTests(SynchronousTestCase):
    """Commands that a cluster in memory cannot have."""

    def setUp(self) -> None:
        self.cli = CommandLine()
        self.nodes = answer_of(
            *((name, "text", name) for name in ("name", "group", "offline", "master", "ndp/ssh_port", "sip")),
            rows=[["node1.example.com", "default", False, True, 22, "198.51.100.1"]],
        )
        self.cli.client.answers["Query"] = lambda *_: self.nodes

    def json(self, program: str, name: str, *words: str) -> Any:
        """What a command says."""
        return json.loads(self.cli(program, name, "--output-format=json", *words).out)

    def test_command(self) -> None:
        """What each node wrote, and its exit status."""
        self.cli.answer = lambda argv: (3, "out\n")
        found = self.json("gnt-cluster", "command", "false")
        self.assertEqual(found, [{"node": "node1.example.com", "status": 3, "output": "out\n"}])

    def test_power(self) -> None:
        """Power is true, false or not known; health has the items with their states."""
        fields = [(name, "text", name) for name in ("name", "master", "offline", "powered")]
        self.cli.client.answers["Query"] = lambda *_: answer_of(*fields, rows=[["node1", True, False, True]])
        self.cli.client.results["OP_OOB_COMMAND"] = [[[0, "node1"], [0, {"powered": False}]]]
        self.assertEqual(self.json("gnt-node", "power", "status"), [{"node": "node1", "powered": False}])
        self.cli.client.results["OP_OOB_COMMAND"] = [[[0, "node1"], [0, [["disk", "OK"]]]], [[0, "node2"], [2, None]]]
        health = [{"node": "node1", "health": {"disk": "OK"}}, {"node": "node2", "health": None}]
        self.assertEqual(self.json("gnt-node", "health"), health)

    def test_restricted_command(self) -> None:
        """What it said, and whether it did what it should."""
        self.cli.client.results["OP_RESTRICTED_COMMAND"] = [[True, "fine\n"]]
        found = self.json("gnt-node", "restricted-command", "check", "node1.example.com")
        self.assertEqual(found, [{"node": "node1.example.com", "succeeded": True, "output": "fine\n"}])

    def test_changes(self) -> None:
        """What a change gives back."""
        self.cli.client.answers["ReplaceFilter"] = lambda *_: "a-uuid"
        self.cli.client.answers["AutoArchiveJobs"] = lambda *_: [3, 1]
        self.cli.client.answers["CancelJob"] = lambda *_: [True, "canceled"]
        self.assertEqual(self.json("gnt-filter", "add"), {"uuid": "a-uuid"})
        self.assertEqual(self.json("gnt-job", "autoarchive", "all"), {"archived": 3, "left": 1})
        self.assertEqual(self.json("gnt-job", "cancel", "7"), [{"job": 7, "done": True, "message": "canceled"}])

    def test_configuration(self) -> None:
        """The configuration is the same in JSON as without the option, and in YAML."""
        root = Path(self.mktemp())
        file = root / CONFIG.path.lstrip("/")
        file.parent.mkdir(parents=True)
        file.write_bytes(encode(SAMPLE))
        self.cli.environ["GANETI_ROOTDIR"] = str(root)
        plain = json.loads(self.cli("gnt-cluster", "export-config").out)
        self.assertEqual(self.json("gnt-cluster", "export-config"), plain)
        self.assertEqual(YAML.safe_load(self.cli("gnt-cluster", "export-config", "--output-format=yaml").out), plain)

    def test_debugging(self) -> None:
        """What an allocator would be told is a text, and jobs from files have numbers."""
        self.cli.client.results["OP_TEST_ALLOCATOR"] = "{}"
        self.assertEqual(self.json("gnt-debug", "iallocator", "web1"), {"text": "{}"})
        ops = io.StringIO(json.dumps([{"OP_ID": "OP_TEST_DELAY", "duration": 1}]))
        outcome = self.cli("gnt-debug", "submit-job", "--output-format=json", "-", stdin=ops)
        self.assertEqual(json.loads(outcome.out), {"job": 2, "error": None})

    def test_failed_jobs(self) -> None:
        """A job that fails after it was submitted is told of in the document, too, and so is one that is refused."""
        self.cli.client.results["OP_INSTANCE_STARTUP"] = OpExecError("no power")
        line = ("gnt-instance", "startup", "--output-format=json", "--force-multiple", "web1", "web2")
        outcome = self.cli(*line)
        error = "Failure: command execution error:\nno power"
        failed = [{"name": f"web{number}", "job": number, "error": error} for number in (1, 2)]
        self.assertEqual((outcome.status, json.loads(outcome.out)), (1, failed))
        self.cli.client.answers["Query"] = lambda *_: answer_of(rows=[["node1", ["web1"]]])
        self.cli.client.results["OP_NODE_MIGRATE"] = {"jobs": [[True, 1], [False, "the queue is full"]]}
        outcome = self.cli("gnt-node", "migrate", "-f", "--output-format=json", "node1")
        self.assertEqual(outcome.status, 1)
        told = [{"job": 3, "error": None}, {"job": 1, "error": error}, {"job": None, "error": "the queue is full"}]
        self.assertEqual(json.loads(outcome.out), told)


class DeclarationTests(SynchronousTestCase):
    """The options follow from what a command prints."""

    def test_where(self) -> None:
        """Whatever prints a result or can submit has the option; only tables that cost little can be watched."""
        for program in FACTS["commands"]:
            for name, entry in program_named(program).commands.items():
                command = load(entry)
                flags = {flag for option in command.all_options for flag in option.flags}
                submits = any("--submit" in option.flags for option in command.options)
                lists = any("-o" in option.flags and option.dest == "output" for option in command.options)
                self.assertEqual("--output-format" in flags, bool(command.prints) or submits, (program, name))
                if lists or name.startswith(("list", "info", "diagnose")):
                    self.assertTrue(command.prints, (program, name))
                self.assertEqual("--watch" in flags, name in ("list", "group-list") and lists, (program, name))

    def test_abbreviations(self) -> None:
        """A script may still shorten --output, as with Ganeti's own parser; the whole flag is taken as it is."""
        command = load(program_named("gnt-instance").commands["list"])
        for flag in ("--out", "--outp", "--output"):
            options, _words = parse("gnt-instance", "list", command, [flag, "name"], {})
            self.assertEqual((options.output, options.output_format), ("name", None), flag)
        options, _words = parse("gnt-instance", "list", command, ["--output-f", "json"], {})
        self.assertEqual(options.output_format, "json")


class TreeTests(SynchronousTestCase):
    """Nested values for people and for programs."""

    def test_values(self) -> None:
        """Labels become keys, texts stand for their values, parameters keep their names and tell which are the object's own."""
        tree = [
            ("Node name", "node1"),
            ("Size (MiB)", Told("1.0G", 1024)),
            ("Parameters", Parameters([("c-max-rate", 1), ("x", Told("default (2)", 2))], {"c-max-rate": 1})),
            ("NICs", [Part([("nic/0", ""), ("MAC", "aa")], {"index": 0, "mac": "aa"})]),
            ("Nothing", Parameters([], {})),
        ]
        self.assertEqual(
            value_of(tree),
            {
                "node_name": "node1",
                "size_mib": 1024,
                "parameters": {"c-max-rate": 1, "x": 2},
                "own_parameters": {"c-max-rate": 1},
                "nics": [{"index": 0, "mac": "aa"}],
                "nothing": {},
                "own_nothing": {},
            },
        )
        lines = list(tree_lines(tree))
        self.assertEqual(lines[1:5], ["Size (MiB): 1.0G", "Parameters: ", "  c-max-rate: 1", "  x: default (2)"])

    def test_mirror_has_no_secret(self) -> None:
        """The logical id of a mirror, which holds its secret, is left to people who may see it elsewhere."""
        mirror = {
            "primary_node": "node1", "primary_minor": 0, "secondary_node": "node2", "secondary_minor": 0, "port": 11000,
        }  # fmt: skip
        disk = {"dev_type": "drbd", "size": 1024, "drbd_info": mirror, "logical_id": ["a", "b", 11000, 0, 0, "secret"]}
        instance = {
            "name": "web1", "uuid": "u", "serial_no": 1, "ctime": 1.5, "mtime": 2.5, "config_state": "up", "pnode": "node1",
            "snodes": ["node2"], "os": "noop", "hypervisor": "kvm", "disk_template": "drbd", "disks": [disk],
        }  # fmt: skip
        cli = CommandLine()
        cli.client.results["OP_INSTANCE_QUERY_DATA"] = {"web1": instance}
        out = cli("gnt-instance", "info", "--output-format=json", "web1").out
        self.assertNotIn("secret", out)
        self.assertEqual(json.loads(out)[0]["disks"][0]["drbd_info"], mirror)


class TextTests(SynchronousTestCase):
    """The forms as such."""

    @settings(max_examples=60, deadline=None, derandomize=True, database=None)
    @given(VALUES)
    def test_yaml(self, value: Any) -> None:
        """Whatever JSON can say is read from the YAML as it was, and the text is plain ASCII."""
        text = yaml_text(value)
        self.assertEqual(YAML.safe_load(text), value)
        self.assertIsNone(re.search(r"[^\n -~]", text))

    def test_long_keys(self) -> None:
        """A key of any length comes back, whatever stands behind it."""
        value = {"k" * 2000: [1, {"é" * 400: {"a": None}}], "x" * 1024: {}, "y": 1}
        self.assertEqual(YAML.safe_load(yaml_text([value])), [value])

    def test_yaml_words(self) -> None:
        """Words that YAML takes for something else are quoted, and numbers stay numbers."""
        words = [
            "yes",
            "No",
            "on",
            "null",
            "y",
            "~",
            "",
            "1",
            "1e3",
            "2026-01-01",
            "a: b",
            "- a",
            "#a",
            "a b",
            "x",
            "é😀",
        ]
        value = {**dict.fromkeys(words, 1), "list": words, "numbers": [1e100, 1e-07, -2.5, 10**20]}
        self.assertEqual(YAML.safe_load(yaml_text(value)), value)

    def test_infinite(self) -> None:
        """A number that JSON cannot say is null."""
        cli = CommandLine()
        cli.client.answers["Query"] = lambda *_: answer_of(("x", "float", "X"), rows=[[float("inf")]])
        self.assertEqual(json.loads(cli("gnt-node", "list", "--output-format=json").out), [{"x": None}])

    def test_csv_quotes(self) -> None:
        """Commas, quotes and ends of lines in a cell come back."""
        cli, odd = CommandLine(), 'a,"b"\r\nc'
        cli.client.answers["QueryTags"] = lambda *_: [odd]
        out = cli("gnt-cluster", "list-tags", "--output-format=csv").out
        self.assertEqual(list(csv.reader(io.StringIO(out, newline=""))), [["tag"], [odd]])

    def test_on_terminal(self) -> None:
        """A terminal obeys no document, which programs get as it is."""
        cli, odd = CommandLine(), "a\x1b]0;owned\x07\r\nb"
        cli.client.answers["QueryTags"] = lambda *_: [odd]
        words = ("gnt-cluster", "list-tags", "--output-format=csv")
        self.assertEqual(cli(*words).out, f'tag\r\n"{odd}"\r\n')
        self.assertEqual(cli(*words, out=Terminal()).out, 'tag\n"a\\x1b]0;owned\\x07\nb"\n')
