"""What had happened to the recorded cluster before a command, besides the commands of this record: a line of words each.

Steps that begin with the name of a program are commands, which must succeed.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.storage_unit import UnitState
from ganeti_tx.node.storage.interfaces import PoolSpace
from ganeti_tx.node.storage.kinds import NodeStorage
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.contracts.cluster import Scene
from ganeti_tx.test.fakes.storage import FakePools
from ganeti_tx.test.inprocess import recorded
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.commands import DrivingClient
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.node import SimulatedNode
from ganeti_tx.test.inprocess.out_of_band import PROGRAM, PowerProgram
from ganeti_tx.test.inprocess.recorded_programs.figures import OS_PLACES
from ganeti_tx.test.inprocess.verify_faults.of_instances import file_of, runs


class MissingPool(FakePools):
    """A directory that is not there."""

    async def space(self, name: str, params: Mapping[str, Any]) -> PoolSpace:
        """See `IPools`."""
        raise BlockDeviceError(f"No such file or directory: {name}")

    async def units(self, places: Sequence[str]) -> Sequence[UnitState]:
        """See `IUnits`."""
        raise BlockDeviceError(f"No such file or directory: {', '.join(places)}")


@define
class Circumstances:
    """Brings them about."""

    cluster: InProcessCluster
    scene: Callable[[], Scene]
    #: A real one, in which root's files are that commands read themselves.
    directory: Path
    #: The recorded number of a job, and the one that it has here.
    jobs: dict[str, str] = field(factory=dict)
    #: The machines that let nobody in over SSH.
    refusing: set[str] = field(factory=set)

    def bring_about(self, step: str) -> None:
        """One of them."""
        verb, *words = step.split(" ")
        if verb.startswith("gnt-"):
            self.scene().ok(recorded.here(step))
        else:
            STEPS[verb](self, *words)

    def node(self, name: str) -> SimulatedNode:
        """A machine by its short name."""
        return self.cluster.nodes[f"{name}.example.com"]

    def path(self, recorded_one: str) -> Path:
        """Where something is here."""
        for place in OS_PLACES:
            recorded_one = recorded_one.replace(place, f"{self.cluster.paths.os_search_path[0]}/")
        return Path(recorded_one)

    def stop(self, name: str) -> None:
        """Its node daemon ends."""
        self.node(name).stop()

    def start(self, name: str) -> None:
        """Its node daemon comes back."""
        self.node(name).start()

    def lay(self, name: str, path: str, *content: str) -> None:
        """It gets a file."""
        text = " ".join(content).replace("\\n", "\n")
        put(self.node(name).disk, self.path(path), text.encode(), 0o755 if text.startswith("#!") else 0o644)

    def remove(self, name: str, path: str) -> None:
        """It loses a file, or all of a directory."""
        self.node(name).disk.remove_tree(self.path(path))

    def mode(self, name: str, path: str, mode: str) -> None:
        """A file gets another mode."""
        self.node(name).disk.set_mode(self.path(path), int(mode, 8))

    def program(self, name: str, path: str, status: str, *output: str) -> None:
        """It has a program, which ends so."""
        put(self.node(name).disk, self.path(path), b"#!/bin/sh\n", 0o755)
        result = ProcessResult(status=int(status), stdout=" ".join(output).replace("\\n", "\n").encode())
        self.node(name).scripts.script([str(self.path(path))], result)

    def opcode(self, number: str, op_id: str) -> None:
        """A job of an opcode that no command submits to a running cluster, which had this number."""
        client = DrivingClient(self.cluster)
        try:
            self.jobs[number] = str(client.submit_job([{"OP_ID": op_id, "reason": []}]))
        finally:
            client.close()
        self.cluster.pass_time(5)

    def last(self, number: str) -> None:
        """The job of the command before had this number."""
        self.jobs[number] = self.scene().ok("gnt-job list --no-headers -o id").split()[-1]

    def fails(self, *words: str) -> None:
        """A command fails."""
        self.scene().fails(recorded.here(" ".join(words)), ".")

    def host(self, name: str, address: str) -> None:
        """All nodes know a name."""
        for node in self.cluster.nodes.values():
            hosts = node.disk.read(self.cluster.paths.etc_hosts, 1 << 16)
            put(node.disk, self.cluster.paths.etc_hosts, hosts + recorded.here(f"{address} {name}\n").encode())

    def device(self, interface: str) -> None:
        """All nodes have a network device."""
        for node in self.cluster.nodes.values():
            node.disk.mkdir(Path("/sys/class/net") / interface)

    def lose(self, instance: str, name: str) -> None:
        """The files of an instance's disks are deleted there."""
        disks = self.node(name).files_storage.disks
        for path in [path for path in disks if recorded.here(instance) in path]:
            del disks[path]

    def refuse(self, name: str) -> None:
        """It lets nobody in over SSH."""
        self.refusing.add(name)

    def accept(self, name: str) -> None:
        """It lets the cluster in again."""
        self.refusing.remove(name)

    def powered(self) -> None:
        """All nodes have an out-of-band program that knows of their power and their fans."""
        program = PowerProgram(self.cluster)
        program.health.update(dict.fromkeys(range(1, 4), '[["disk", "OK"], ["fan", "WARNING"]]'))
        self.scene().ok(f"gnt-cluster modify --node-parameters oob_program={PROGRAM}")

    def unfiltered(self) -> None:
        """All rules are removed."""
        for rule in self.scene().ok("gnt-filter list --no-headers -o uuid").split():
            self.scene().ok(f"gnt-filter delete {rule}")

    def rule(self, word: str) -> str:
        """The uuid of the rule that has a word in its line."""
        lines = self.scene().ok("gnt-filter list --no-headers").splitlines()
        return next(line.split()[0] for line in lines if word in line)

    def own(self, path: str, *content: str) -> None:
        """Root has a file, which commands read themselves."""
        (self.directory / Path(path).name).write_text(" ".join(content))

    def bare(self, name: str) -> None:
        """The directory for files is missing there."""
        node = self.node(name)
        node.stop()
        pools = {**node.storage.pools, "file": MissingPool(node.files_storage)}
        node.storage = NodeStorage(node.storage.storages, pools)
        node.start()

    def runs(self, instance: str, name: str) -> None:
        """An instance is started on it behind the cluster's back."""
        runs(self.cluster, int(name.removeprefix("node")), recorded.here(instance))

    def dies(self, instance: str, name: str) -> None:
        """An instance that runs there does no more."""
        self.node(name).disk.remove(file_of(self.cluster, recorded.here(instance)))

    def wait(self, seconds: str) -> None:
        """Time passes."""
        self.cluster.pass_time(float(seconds))

    def job(self, number: str, *words: str) -> None:
        """A job is submitted, which had this number."""
        self.jobs[number] = str(self.scene().submit(" ".join(words)))


STEPS: Mapping[str, Callable[..., None]] = {
    each.__name__: each
    for each in (
        Circumstances.stop,
        Circumstances.start,
        Circumstances.lay,
        Circumstances.remove,
        Circumstances.mode,
        Circumstances.program,
        Circumstances.runs,
        Circumstances.dies,
        Circumstances.wait,
        Circumstances.job,
        Circumstances.refuse,
        Circumstances.accept,
        Circumstances.powered,
        Circumstances.unfiltered,
        Circumstances.bare,
        Circumstances.own,
        Circumstances.host,
        Circumstances.lose,
        Circumstances.device,
        Circumstances.opcode,
        Circumstances.last,
        Circumstances.fails,
    )
}
