"""A cluster of which only the master daemon's answers are there."""

import io
from collections.abc import Callable
from typing import Any

from ganeti_tx.burnin.confd_questions import Ask
from ganeti_tx.burnin.main import burn
from ganeti_tx.cli.program import CommandContext
from ganeti_tx.errors import ResolverError
from ganeti_tx.test.cli.fakes import FakeClient, answer_of

NODES = ("node1", "node2", "node3")


class BurningClient(FakeClient):
    """Every job is done at once; instances come and go by the opcodes that are submitted, and keep their nodes."""

    def __init__(self, secondaries: int = 0, disks: int = 1) -> None:
        super().__init__()
        self.secondaries, self.disks = secondaries, disks
        #: By name, with their primary nodes.
        self.instances: dict[str, int] = {}
        self.foreign: list[str] = []
        #: Names, with the nodes that have them.
        self.exports: list[tuple[str, str]] = []
        self.nodes = [(name, False, False, True) for name in NODES]
        self.status = "running"
        #: What the nodes have that nobody knows.
        self.orphans: list[str] = []
        #: What happens when a job is submitted, before it is done.
        self.hears: Callable[[list[dict[str, Any]]], None] = lambda ops: None
        self.answers["Query"] = self._query
        self.answers["QueryClusterInfo"] = lambda: {
            "enabled_hypervisors": ["kvm", "lxc"],
            "enabled_disk_templates": ["file", "drbd", "plain", "sharedfile", "diskless"],
            "master": "node1",
        }
        self.answers["QueryJobs"] = self._query_any_jobs
        self.answers["CancelJob"] = lambda job_id, kill=False: [True, "cancelled"]
        self.results["OP_CLUSTER_VERIFY"] = {"jobs": []}
        self.results["OP_OS_DIAGNOSE"] = [
            ["debootstrap", ["default", "minimal"], True, False, False],
            ["half", [], False, False, False],
            ["noop", [], True, True, False],
        ]

    def _submit_job(self, ops: list[dict[str, Any]]) -> int:
        self.hears(ops)
        job_id = super()._submit_job(ops)
        for op in ops if self._status(job_id) == "success" else []:
            match op["OP_ID"]:
                case "OP_INSTANCE_CREATE":
                    self.instances.setdefault(op["instance_name"], len(self.instances))
                case "OP_INSTANCE_REMOVE":
                    del self.instances[op["instance_name"]]
                case "OP_BACKUP_EXPORT":
                    self.exports.append((op["instance_name"], op["target_node"]))
                case "OP_BACKUP_REMOVE":
                    self.exports = [each for each in self.exports if each[0] != op["instance_name"]]
                case "OP_CLUSTER_VERIFY":
                    self.results["OP_CLUSTER_VERIFY"] = {"jobs": [[True, job_id]]}
        return job_id

    def _query(self, resource: str, fields: list[str], wanted: Any) -> Any:
        rows = [self._instance(*each) for each in self.instances.items()]
        if wanted is None:
            rows += [{"name": name} for name in self.foreign]
        answers: dict[str, list[dict[str, Any]]] = {
            "instance": rows,
            "node": [dict(zip(("name", "offline", "drained", "vm_capable"), node, strict=True)) for node in self.nodes],
            "export": [
                {"export": None, "node": "node9"},
                *({"export": name, "node": node} for name, node in self.exports),
            ],
        }
        return answer_of(rows=[[row[field] for field in fields] for row in answers[resource]])

    def _instance(self, name: str, number: int) -> dict[str, Any]:
        nodes = [NODES[(number + step) % 3] for step in range(1 + self.secondaries)]
        known = {"name": name, "pnode": nodes[0], "snodes": nodes[1:], "status": self.status}
        return known | {"disk.count": self.disks, "nic.count": 1}

    def _query_any_jobs(self, job_ids: list[int] | None, fields: list[str]) -> Any:
        if fields == ["oplog"]:
            return [[[[[1, [0, 0], "message", f"  - {line}"] for line in self.orphans]]]]
        return self._query_jobs(job_ids, fields)

    _own = {**FakeClient._own, "SubmitJob": lambda self, ops: self._submit_job(ops)}


class Burning:
    """Runs the program against such a master."""

    def __init__(self, client: BurningClient) -> None:
        self.client = client
        self.out, self.err = io.StringIO(), io.StringIO()
        self.passed = 0.0
        self.confd: Callable[[], Ask] = self._nobody
        self.fetch: Callable[[str], str] = lambda name: ""
        #: Names that stand for no address.
        self.unresolved: set[str] = set()

    def __call__(self, line: str) -> int:
        """The exit status."""
        context = CommandContext(
            environ={},
            out=self.out,
            err=self.err,
            stdin=io.StringIO(),
            connect=lambda: self.client,
            run=lambda argv, document: 1,
            now=lambda: 1700000000.0 + self.passed,
            sleep=self._sleep,
        )
        return burn(["-o", "noop", *line.split()], context, self.confd, self.fetch, self._resolve)

    def _resolve(self, name: str) -> tuple[str, str]:
        if name in self.unresolved:
            raise ResolverError(name, 1, "nobody knows it")
        return name, "192.0.2.1"

    def _sleep(self, seconds: float) -> None:
        self.passed += seconds

    @staticmethod
    def _nobody() -> Ask:
        raise AssertionError("the configuration daemons are asked")
