"""What programs get of a whole cluster: every command that prints a result, in every format."""

import csv
import importlib
import io
import json
from typing import Any

from ganeti_tx.cli.main import program_named
from ganeti_tx.cli.options import TABLE, Command
from ganeti_tx.cli.program import load
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.test.cli.test_facts import FACTS
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.commands import Commands

#: PyYAML, which is there for the tests and has no types.
YAML: Any = importlib.import_module("yaml")

SETUP = (
    "gnt-instance add -t file -s 1G -o noop -n node1 --net 0:network=lan,ip=pool web1",
    "gnt-instance add-tags web1 blue",
    "gnt-cluster add-tags blue",
    "gnt-node add-tags node1 blue",
    "gnt-group add-tags default blue",
    "gnt-network add-tags lan blue",
    "gnt-backup export -n node2 --long-sleep web1",
)
NETWORK = (
    "gnt-network add --network=10.77.0.0/28 --gateway=10.77.0.1 --add-reserved-ips=10.77.0.5 lan",
    "gnt-network connect -N mode=routed,link=main lan default",
)
#: The words behind each command that reads; {rule} is the uuid of a rule.
READING = {
    "gnt-backup list": "",
    "gnt-backup list-fields": "",
    "gnt-cluster getmaster": "",
    "gnt-cluster info": "",
    "gnt-cluster list-tags": "",
    "gnt-cluster queue": "info",
    "gnt-cluster search-tags": "blue",
    "gnt-cluster show-ispecs-cmd": "",
    "gnt-cluster verify": "",
    "gnt-cluster verify-disks": "",
    "gnt-cluster version": "",
    "gnt-cluster watcher": "info",
    "gnt-debug locks": "",
    "gnt-debug wconfd": "listalllocks",
    "gnt-filter info": "{rule}",
    "gnt-filter list": "",
    "gnt-filter list-fields": "",
    "gnt-group info": "",
    "gnt-group list": "",
    "gnt-group list-fields": "",
    "gnt-group list-tags": "default",
    "gnt-group show-ispecs-cmd": "--include-defaults default",
    "gnt-instance activate-disks": "web1",
    "gnt-instance console": "--show-cmd web1",
    "gnt-instance info": "web1",
    "gnt-instance list": "",
    "gnt-instance list-fields": "",
    "gnt-instance list-tags": "web1",
    "gnt-job info": "1",
    "gnt-job list": "1 2 3",
    "gnt-job list-fields": "",
    "gnt-job wait": "1",
    "gnt-job watch": "1 2",
    "gnt-network info": "lan",
    "gnt-network list": "",
    "gnt-network list-fields": "",
    "gnt-network list-tags": "lan",
    "gnt-node group-list": "",
    "gnt-node info": "",
    "gnt-node list": "",
    "gnt-node list-drbd": "node1",
    "gnt-node list-fields": "",
    "gnt-node list-storage": "",
    "gnt-node list-tags": "node1",
    "gnt-node volumes": "",
    "gnt-os diagnose": "",
    "gnt-os info": "",
    "gnt-os list": "",
    "gnt-storage diagnose": "",
    "gnt-storage info": "",
}
#: What changes something, asks programs beside the cluster, or reads files: seen with a master in memory.
ELSEWHERE = {
    "gnt-cluster command", "gnt-cluster export-config", "gnt-debug iallocator", "gnt-debug metad", "gnt-debug submit-job",
    "gnt-filter add", "gnt-filter replace", "gnt-job autoarchive", "gnt-job cancel", "gnt-job change-priority", "gnt-node health",
    "gnt-node power", "gnt-node restricted-command",
}  # fmt: skip
#: Nothing of these is there, which is no success, and no document.
NOTHING = ("gnt-storage diagnose", "gnt-storage info")
KINDS: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "float": (int, float),
    "number": (int, float),
    "text": (str,),
    "timestamp": (int, float),
    "unit": (int, float),
}


def printing() -> dict[str, Command]:
    """Every command that prints a result."""
    commands = {
        f"{program} {name}": load(entry)
        for program in FACTS["commands"]
        for name, entry in program_named(program).commands.items()
    }
    return {name: command for name, command in commands.items() if command.prints}


class FormatTests(ClusterCase):
    """One cluster, of which everything is asked."""

    def run_line(self, line: str) -> tuple[int, str, str]:
        """One command line."""
        return Commands(self.cluster)(line.split())

    def document(self, name: str, format: str, words: str) -> str:
        """What a command prints in a format."""
        status, out, err = self.run_line(f"{name} --output-format={format} {words}")
        self.assertEqual(status, 0, (name, format, out, err))
        return out

    def test_every_command(self) -> None:
        """JSON can be read, YAML says the same, CSV has the same rows; nothing else is on standard output."""
        self.assertEqual(set(READING) | ELSEWHERE, set(printing()))
        for line in (*NETWORK, *SETUP):
            self.ok(line)
        rule = self.ok("gnt-filter add --action=ACCEPT").strip()
        for name, command in printing().items():
            if name in READING and name not in NOTHING:
                self._compare(name, command, READING[name].format(rule=rule))

    def _compare(self, name: str, command: Command, words: str) -> None:
        found = json.loads(self.document(name, "json", words))
        self.assertEqual(stable(YAML.safe_load(self.document(name, "yaml", words))), stable(found), name)
        status, out, err = self.run_line(f"{name} --output-format=csv {words}")
        if command.prints != TABLE:
            self.assertEqual((status, out), (2, ""), name)
            self.assertIn("(choose from 'json', 'yaml')", err)
            return
        rows = found if isinstance(found, list) else [found]
        read = list(csv.DictReader(io.StringIO(out, newline="")))
        self.assertEqual(len(read), len(rows), name)
        for row, cells in zip(rows, read, strict=True):
            self.assertEqual(list(row), list(cells), name)

    def test_findings(self) -> None:
        """What verify finds is told as records with their codes; the exit status stays, and text goes to standard error."""
        status, out, err = self.run_line("gnt-cluster verify --debug-simulate-errors --output-format=json")
        findings = json.loads(out)
        self.assertEqual(status, 1)
        self.assertIn("Verifying cluster config", err)
        self.assertEqual(
            {tuple(finding) for finding in findings}, {("job", "severity", "code", "item_type", "item", "message")}
        )
        self.assertLessEqual({finding["code"] for finding in findings}, {code.value for code in VerifyCode})
        self.assertEqual({finding["severity"] for finding in findings}, {"ERROR", "WARNING"})
        self.assertEqual(len({finding["job"] for finding in findings}), 2)

    def test_submitted(self) -> None:
        """A command that submits gives the number of its job, waited for or not; of many objects that of each."""
        self.assertEqual(
            json.loads(self.document("gnt-cluster add-tags", "json", "--submit red")), {"job": 1, "error": None}
        )
        self.assertEqual(
            YAML.safe_load(self.document("gnt-cluster add-tags", "yaml", "green")), {"job": 2, "error": None}
        )
        for name in ("web1", "web2"):
            self.ok(f"gnt-instance add -t diskless -o noop -n node1 --no-start {name}")
        found = json.loads(self.document("gnt-instance startup", "json", "--force-multiple --submit web1 web2"))
        full = [f"{name}.example.com" for name in ("web1", "web2")]
        self.assertEqual([(each["name"], each["error"]) for each in found], [(name, None) for name in full])
        self.assertEqual([each["job"] for each in found], [5, 6])
        self.cluster.pass_time(10)

    def test_kinds(self) -> None:
        """Every field of every resource has a value of its kind's type, or null."""
        for line in (*NETWORK, *SETUP):
            self.ok(line)
        self.ok("gnt-filter add --action=ACCEPT")
        for noun in ("instance", "node", "group", "network", "job", "filter", "backup"):
            fields = json.loads(self.document(f"gnt-{noun} list-fields", "json", ""))
            kinds = {field["name"]: field["type"] for field in fields}
            records = json.loads(self.document(f"gnt-{noun} list", "json", f"-o {','.join(kinds)}"))
            self.assertNotEqual(records, [], noun)
            wrong = {
                (name, kinds[name], repr(value))
                for record in records
                for name, value in record.items()
                if value is not None and kinds[name] in KINDS and type(value) not in KINDS[kinds[name]]
            }
            self.assertEqual(wrong, set(), noun)


def stable(value: Any) -> Any:
    """Without the numbers of the jobs that a question needs, which are others each time."""
    if isinstance(value, dict):
        return {name: stable(inner) for name, inner in value.items() if name != "job"}
    return [stable(inner) for inner in value] if isinstance(value, list) else value
