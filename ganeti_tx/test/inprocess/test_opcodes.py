"""Every opcode does its work in a whole cluster; doc/opcodes.rst says by what logical unit, and with which hooks."""

import json
from collections.abc import Iterator, Mapping, Set
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.logic.registry import UNITS
from ganeti_tx.queue.job import Status
from ganeti_tx.test.contracts.operations_page import check, grid
from ganeti_tx.test.fakes.process import FakeProcessRunner
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.hail import install_hail
from ganeti_tx.test.inprocess.keys_case import put_keys
from ganeti_tx.test.inprocess.mirrors import mirrored_cluster
from ganeti_tx.test.inprocess.opcode_lines import LINES, RECREATE, RESTRICTED, Line
from ganeti_tx.test.inprocess.out_of_band import PowerProgram
from ganeti_tx.test.model.opcodes.facts import OPCODE_FACTS

#: Ganeti has no logical unit for it either (reference: opcodes.json).
WITHOUT_UNIT = {"OP_TEST_DUMMY"}
PAGE = Path(__file__).parents[3] / "doc" / "opcodes.rst"
HEAD = ["opcode", "logical unit", "hooks", "asked for by"]
#: It runs after every change of the configuration, whatever made it.
OF_THE_CONFIGURATION = "config-update"
PHASES = ("pre", "post")
#: MiB a second that mirrors copy, and seconds until all that a job has begun is done.
RATE, REST = 1000.0, 30.0


class RegistryTests(SynchronousTestCase):
    """Which opcodes there are units for."""

    def test_all(self) -> None:
        """Each of Ganeti's that shall have a logical unit has one, and so have our own; none besides."""
        self.assertEqual({kind.op_id() for kind in UNITS}, set(OPCODE_FACTS) - WITHOUT_UNIT)


class OpcodesTests(ClusterCase):
    """Five nodes with all that can be asked of a cluster, and a script in the directory of each hook."""

    def setUp(self) -> None:
        super().setUp()
        self._last = 0
        #: How many calls of programs were looked at, by who runs them: a node that was reset has another.
        self._looked_at: dict[FakeProcessRunner, int] = {}
        self._batch = Path(self.mktemp())
        self._batch.write_text(json.dumps([{
            "instance_name": "web3", "mode": "create", "disk_template": "diskless", "pnode": "node3", "disks": [],
            "nics": [{}], "os_type": "noop", "hypervisor": "fake", "ignore_ipolicy": True,
        }]))  # fmt: skip

    def new_cluster(self, seed: int = 0) -> InProcessCluster:
        """See `ClusterCase`."""
        cluster, wire = mirrored_cluster(5, seed)
        wire.rate = RATE
        self.addCleanup(cluster.end)
        install_hail(cluster)
        put_keys(cluster)
        PowerProgram(cluster)
        self.write_hosts(cluster)
        command = cluster.paths.restricted_commands_dir / RESTRICTED
        put(cluster.master.disk, command, b"#!/bin/sh\n", 0o755)
        cluster.master.disk.set_mode(command.parent, 0o755)
        return cluster

    def write_hosts(self, cluster: InProcessCluster) -> None:
        """The names of instances, and another one of the cluster's, resolve."""
        names = (*range(1, 5), 9)
        hosts = "".join(f"192.0.2.{200 + each} web{each}.example.com web{each}\n" for each in names).encode()
        for node in cluster.nodes.values():
            put(node.disk, cluster.paths.etc_hosts, node.disk.read(cluster.paths.etc_hosts, 1 << 16) + hosts)

    def install_hooks(self) -> None:
        """Also on nodes that have come meanwhile."""
        paths = {unit.hook.path for unit in UNITS.values() if unit.hook is not None}
        for node in self.cluster.nodes.values():
            for phase in PHASES:
                for path in paths:
                    put(node.disk, node.paths.hooks_dir / f"{path}-{phase}.d/seen", b"#!/bin/sh\n", 0o755)

    def do(self, line: Line) -> None:
        """One step of the walk. @raise AssertionError: it failed."""
        if line == RECREATE:
            for node in self.cluster.members:
                assert node.mirror_node is not None
                node.mirror_node.volumes.disks.clear()
        if isinstance(line, str):
            self.ok(line.format(batch=self._batch))
        else:
            self.luxi().submit_job([{"reason": [], **line}])
        self.cluster.pass_time(REST)

    def succeeded(self) -> Iterator[str]:
        """The opcodes that have done their work since the last time; the other ones fail the test."""
        disk = self.cluster.master.disk
        while disk.exists(self.cluster.paths.job_file(self._last + 1)):
            self._last += 1
            for op in self.job(self._last).ops:
                self.assertEqual((op.input["OP_ID"], op.status, op.result if op.status is Status.ERROR else None),
                                 (op.input["OP_ID"], Status.SUCCESS, None))  # fmt: skip
                yield op.input["OP_ID"]

    def hooks_run(self) -> Iterator[tuple[str, str]]:
        """Opcodes, and the directories whose scripts ran for them, since the last time."""
        for node in self.cluster.nodes.values():
            if (scripts := getattr(node, "scripts", None)) is None:
                continue
            calls = scripts.calls[self._looked_at.get(scripts, 0) :]
            self._looked_at[scripts] = len(scripts.calls)
            for call in calls:
                program = Path(call.argv[0])
                if program.name == "seen" and not program.parent.name.startswith(OF_THE_CONFIGURATION):
                    yield call.env["GANETI_OP_CODE"], program.parent.name

    def test_walk(self) -> None:
        """None is left out, each runs the hooks that its unit declares and no others, and the page says so."""
        asked: dict[str, Line] = {}
        ran: dict[str, set[str]] = {}
        for line in LINES:
            self.install_hooks()
            self.do(line)
            for op_id in self.succeeded():
                asked.setdefault(op_id, line)
            for op_id, directory in self.hooks_run():
                ran.setdefault(op_id, set()).add(directory)
        self.assertEqual(set(asked), {kind.op_id() for kind in UNITS})
        check(page_table(asked, ran), Path("opcodes.rst"), PAGE)


def page_table(asked: Mapping[str, Line], ran: Mapping[str, Set[str]]) -> str:
    """The table of the page. @raise AssertionError: other hooks ran than are declared."""
    rows = [HEAD]
    for kind, unit in sorted(UNITS.items(), key=lambda item: item[0].op_id()):
        op_id, directories = kind.op_id(), ran.get(kind.op_id(), frozenset())
        path = None if unit.hook is None else unit.hook.path
        phases = [phase for phase in PHASES if f"{path}-{phase}.d" in directories]
        if {f"{path}-{phase}.d" for phase in phases} != directories or bool(phases) != (path is not None):
            raise AssertionError(f"{op_id} ran {sorted(directories)}; its unit declares {path}")
        place = unit.__module__.removeprefix("ganeti_tx.").replace(".", "/")
        line = asked[op_id]
        words = f"``{' '.join(line.split()[:2])}``" if isinstance(line, str) else "a program's job"
        rows.append([f"``{op_id}``", f"``{place}.py``", f"{path}: {', '.join(phases)}" if path else "", words])
    return "\n".join([*grid(rows), ""])
