"""Programs that others wrote against Ganeti's Remote API, run against ours: Debian's client, and a monitoring check."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.logic.registry import UNITS
from ganeti_tx.model.opcodes import OPCODES, decode
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.rapi.facts_table import FACTS
from ganeti_tx.test.real.devcluster import cluster_with, commands_are_installed
from ganeti_tx.test.real.programs import until
from ganeti_tx.test.real.rapi_calls import IN_ORDER
from ganeti_tx.test.real.rapi_daemon import PASSWORD, PORT, USER, RapiUnderTest
from ganeti_tx.test.real.rapi_instance_calls import MORE, NODE_2, OS, SIZE, WEB
from ganeti_tx.test.real.rapi_submitting import Submitting

DEBIAN_PYTHON = "/usr/bin/python3"
DEBIAN_CLIENT = Path("/usr/lib/python3/dist-packages/ganeti/rapi/client.py")
SCRIPT = Path(__file__).parent / "stock_client.py"
MONITORING = Path(sys.executable).parent / "gnt-monitoring"
HAIL = Path("/usr/lib/ganeti/iallocators/hail")
OPTIONS = ("--enabled-hypervisors=fake", "--enabled-disk-templates=diskless,file,sharedfile")
FINAL = ("success", "error", "canceled")
NODES = ["node1.dev.example", "node2.dev.example", "node3.dev.example"]
NEW_RULE = [["jobid", [">", "id", "watermark"]]]

_served: list[RapiUnderTest] = []


def remote_api() -> RapiUnderTest:
    """The one of the devcluster that these tests share."""
    if not commands_are_installed():
        raise SkipTest("the ganeti commands are not installed beside this Python")
    if not _served:
        _served.append(RapiUnderTest(cluster_with(OPTIONS)))
    return _served[0]


def cluster_root() -> Path:
    """Where the nodes of that cluster are."""
    return remote_api().paths.root.parent


def disk() -> Path:
    """The only one that all nodes have."""
    (found,) = cluster_root().glob("shared/web*/*.disk0")
    return found


class StockClient:
    """Ganeti's own client in a process of its own."""

    def __init__(self, host: str) -> None:
        self._process = subprocess.Popen(
            [DEBIAN_PYTHON, str(SCRIPT), host, str(PORT), USER, PASSWORD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.called: set[str] = set()

    def __call__(self, method: str, *args: Any, **named: Any) -> Any:
        """What came of a call: ["ok", result] or ["error", status, message]."""
        self.called.add(method)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([method, args, named]) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """End it."""
        self._process.communicate(timeout=10)


class StockClientTests(SynchronousTestCase):
    """Every method of Debian's python3-ganeti-rapi."""

    if not DEBIAN_CLIENT.exists() or not HAIL.exists():
        skip = "needs Debian's python3-ganeti-rapi and ganeti-htools"

    def setUp(self) -> None:
        self.client = StockClient(remote_api().host)
        self.addCleanup(self.client.close)

    def ok(self, method: str, *args: Any, **named: Any) -> Any:
        """What a method that must succeed gives."""
        outcome = self.client(method, *args, **named)
        self.assertEqual(outcome[0], "ok", (method, outcome))
        return outcome[1]

    def error(self, status: int, method: str, *args: Any) -> str:
        """The message of a method's failure."""
        outcome = self.client(method, *args)
        self.assertEqual(outcome[:2], ["error", status], outcome)
        self.assertNotIn("Traceback", outcome[2])
        return str(outcome[2])

    def job(self, job_id: int) -> dict[str, Any]:
        """A job that has ended."""
        until(lambda: self.ok("GetJobStatus", job_id)["status"] in FINAL, f"the end of job {job_id}")
        job: dict[str, Any] = self.ok("GetJobStatus", job_id)
        return job

    def test_every_method(self) -> None:
        """Each method does what it is for; no method is left out."""
        hail = remote_api().paths.iallocator_search_path[0] / "hail"
        hail.parent.mkdir(parents=True, exist_ok=True)
        hail.symlink_to(HAIL)
        before = {"RecreateInstanceDisks": self.lose_disk, "ReinstallInstance": self.empty_disk}
        after = {
            "CreateInstance": self.look_at_instance,
            "RecreateInstanceDisks": self.look_at_disk,
            "GrowInstanceDisk": self.look_at_larger_disk,
            "ExportInstance": self.look_at_export,
            "ReinstallInstance": self.look_at_system,
            "ModifyNetwork": self.look_at_network,
        }
        for call in IN_ORDER:
            before.get(call.method, lambda: None)()
            self.submit(call)
            after.get(call.method, lambda: None)()
        self.look_around()
        self.look_at_jobs()
        self.change_filters()
        self.assertEqual(set(FACTS["client_requests"]) - self.client.called, set())

    def submit(self, call: Submitting) -> None:
        """The job has the opcode with its fields and says who wanted it; when it fails, one line says why. What is not built
        yet is refused at once.
        """
        outcome = self.client(call.method, *call.args, **call.named)
        if outcome[:2] == ["error", HTTPStatus.NOT_IMPLEMENTED]:
            needed = re.findall(r"OP_[A-Z_]+", outcome[2])
            self.assertEqual([op_id for op_id in needed if OPCODES[op_id] in UNITS], [], outcome[2])
            self.assertIsNone(call.ended, call.method)
            return
        self.assertEqual(outcome[0], "ok", (call.method, outcome))
        job = self.job(outcome[1])
        op = decode(job["ops"][0])
        self.assertEqual(op.op_id(), call.op_id)
        told = {name: job["ops"][0].get(name) for name in call.fields}
        self.assertEqual(told, dict(call.fields), call.method)
        self.assertTrue(job["ops"][0]["reason"][0][0].startswith("gnt:library:rlib2:"), job["ops"][0]["reason"])
        if call.ended is not None:
            self.assertEqual(job["status"], call.ended, (call.method, job["opresult"]))
            self.is_done(call, job)
        if job["status"] == "error":
            failed = job["opstatus"].index("error")
            kind, (message, *_) = job["opresult"][failed]
            self.assertIn(kind, ("OpExecError", "OpPrereqError"))
            self.assertRegex(message, r"\A[^\n]{10,}\Z")

    def is_done(self, call: Submitting, job: dict[str, Any]) -> None:
        """The work shows: the jobs that the job has submitted succeed, too, and what there is has become what it should."""
        for result in job["opresult"]:
            for submitted, number in result["jobs"] if isinstance(result, dict) and "jobs" in result else ():
                self.assertTrue(submitted, number)
                self.assertEqual(self.job(number)["status"], "success", (call.method, self.job(number)))
        if call.result is not None:
            self.assertRegex(json.dumps(job["opresult"]), call.result, call.method)
        for seen in call.then:
            self.assertEqual(seen.of(self.ok(seen.method, *seen.args)), seen.right, (call.method, seen.method))

    def lose_disk(self) -> None:
        """It is gone."""
        disk().unlink()

    def look_at_disk(self) -> None:
        """It is there, with its size."""
        self.assertEqual(disk().stat().st_size, SIZE << 20)

    def look_at_larger_disk(self) -> None:
        """It is larger."""
        self.assertEqual(disk().stat().st_size, (SIZE + MORE) << 20)

    def look_at_export(self) -> None:
        """It lies on the node that was named."""
        export = Paths(cluster_root() / NODE_2.split(".")[0]).export_dir / WEB
        self.assertIn(f"name = {WEB}\n", (export / "config.ini").read_text())

    def empty_disk(self) -> None:
        """Nothing is on it."""
        with disk().open("r+b") as opened:
            opened.truncate(0)
            opened.truncate((SIZE + MORE) << 20)

    def look_at_system(self) -> None:
        """A system is on it, which knows the instance's name."""
        with disk().open("rb") as opened:
            self.assertIn(WEB.encode(), opened.read(256 << 20))

    def look_at_instance(self) -> None:
        """An instance is listed, shown, and has a console while it runs."""
        self.assertEqual(self.ok("GetInstances"), [WEB])
        (bulk,) = self.ok("GetInstances", bulk=True)
        single = self.ok("GetInstance", WEB)
        self.assertEqual(bulk.keys(), single.keys())
        self.assertEqual((single["os"], single["status"]), (OS, "running"))
        self.assertEqual(single["beparams"]["memory"], single["beparams"]["maxmem"])
        self.assertEqual(self.ok("GetInstanceConsole", WEB)["instance"], WEB)
        self.assertEqual(self.ok("GetInstanceTags", WEB), [])
        self.assertIn("no-such-instance", self.error(404, "GetInstance", "no-such-instance"))
        self.assertIsInstance(self.ok("InstanceAllocation", "create", "x", "diskless", [], [{}]), dict)

    def look_at_network(self) -> None:
        """A network is listed and shown, with the map of its addresses and the groups that have it."""
        self.assertEqual(self.ok("GetNetworks"), ["lan"])
        (bulk,) = self.ok("GetNetworks", bulk=True)
        single = self.ok("GetNetwork", "lan")
        self.assertEqual(bulk.keys(), single.keys())
        self.assertEqual((single["network"], single["gateway"]), ("192.0.2.0/24", "192.0.2.1"))
        self.assertEqual((single["free_count"], single["map"]), (253, "XX" + "." * 253 + "X"))
        self.assertEqual(single["group_list"], [["default", "bridged", "br0", ""]])
        self.assertEqual(sorted(self.ok("GetNetworkTags", "lan")), ["a", "b"])

    def look_around(self) -> None:
        """Nodes, groups, networks, systems, and the cluster itself."""
        self.assertEqual(self.ok("GetVersion"), 2)
        self.assertEqual(sorted(self.ok("GetFeatures")), sorted(FACTS["features"]))
        self.assertEqual(self.ok("GetInfo")["name"], "cluster.dev.example")
        self.assertEqual(self.ok("GetClusterTags"), ["y"])
        self.assertEqual(self.ok("GetNodes"), NODES)
        self.assertEqual([node["name"] for node in self.ok("GetNodes", bulk=True)], NODES)
        self.assertEqual(self.ok("GetNode", NODES[0])["secondary_ip"], remote_api().host)
        self.assertEqual(self.ok("GetNodeRole", NODES[0]), "master")
        self.assertEqual(self.ok("GetNodeTags", NODES[1]), [])
        self.assertIn("default", self.ok("GetGroups"))
        self.assertIn("default", [group["name"] for group in self.ok("GetGroups", bulk=True)])
        self.assertEqual(self.ok("GetGroup", "default")["name"], "default")
        self.assertEqual(self.ok("GetGroupTags", "default"), [])
        self.assertIsInstance(self.ok("GetNetworks"), list)
        self.assertIsInstance(self.ok("GetNetworks", bulk=True), list)
        self.error(404, "GetNetwork", "no-such-net")
        self.assertIn("no-such-net", self.error(404, "GetNetworkTags", "no-such-net"))
        self.assertIn(OS, self.ok("GetOperatingSystems"))
        answer = self.ok("Query", "node", ["name", "role"], ["=", "name", NODES[0]])
        self.assertEqual(answer["data"], [[[0, NODES[0]], [0, "M"]]])
        (definition,) = self.ok("QueryFields", "node", ["name"])["fields"]
        self.assertEqual(definition["name"], "name")

    def look_at_jobs(self) -> None:
        """Jobs by number, awaited and cancelled."""
        numbers = self.ok("GetJobs")
        self.assertEqual(numbers, sorted(numbers))
        self.assertEqual([job["id"] for job in self.ok("GetJobs", bulk=True)], numbers)
        self.assertIs(self.ok("WaitForJobCompletion", numbers[0]), True)
        change = self.ok("WaitForJobChange", numbers[0], ["id", "status"], None, None)
        self.assertEqual(change["job_info"], [numbers[0], "success"])
        cancelled, message = self.ok("CancelJob", numbers[0])
        self.assertFalse(cancelled)
        self.assertIn(str(numbers[0]), message)
        self.assertIsNone(self.ok("GetJobStatus", 999_999)["status"])

    def change_filters(self) -> None:
        """A rule's life."""
        uuid = self.ok("AddFilter", 1, NEW_RULE, "CONTINUE")
        self.assertEqual(self.ok("GetFilters"), [uuid])
        self.assertEqual(self.ok("GetFilter", uuid)["predicates"], NEW_RULE)
        self.assertEqual(self.ok("ReplaceFilter", uuid, 2, [], "ACCEPT"), uuid)
        (rule,) = self.ok("GetFilters", bulk=True)
        self.assertEqual((rule["priority"], rule["action"], rule["predicates"]), (2, "ACCEPT", []))
        self.assertIsNone(self.ok("DeleteFilter", uuid))
        self.error(404, "DeleteFilter", uuid)


class MonitoringTests(SynchronousTestCase):
    """The check that PyPI has as gnt-monitoring."""

    if not MONITORING.exists():
        skip = "needs gnt-monitoring from PyPI"

    def run_check(self, words: Sequence[str]) -> tuple[int, str]:
        """Its exit status and its output."""
        who = ["--rapi-host", remote_api().host, "--rapi-user", USER, "--rapi-password", PASSWORD]
        done = subprocess.run(
            [str(MONITORING), *who, *words], capture_output=True, text=True, timeout=60, check=False, cwd="/"
        )
        return done.returncode, done.stdout

    def test_nodes(self) -> None:
        """Every node has its line."""
        status, out = self.run_check(["node-memory"])
        self.assertEqual(status, 0, out)
        for name in NODES:
            self.assertIn(name, out)

    def test_cluster(self) -> None:
        """The cluster's memory is told as a whole."""
        status, out = self.run_check(["cluster-memory"])
        self.assertEqual(status, 0, out)
        self.assertIn("GiB", out)

    def test_alarm(self) -> None:
        """A threshold that is reached is reported by the exit status."""
        status, out = self.run_check(["node-memory", "-w", "0", "-c", "1"])
        self.assertEqual(status, 1, out)
        self.assertIn("WARNING", out)
