"""Operations on nodes of which each call goes wrong in turn, and whose jobs are killed and stopped at each."""

from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.each_call import EachCallCase, Operation, walks
from ganeti_tx.test.inprocess.out_of_band import PROGRAM, PowerProgram
from ganeti_tx.test.inprocess.test_each_call import BACK, MIRRORED, is_on_node3

OFF = "gnt-node power --force --ignore-status off node3"
OFFLINE = "gnt-node modify --offline=yes --auto-promote node3"


def is_off(cluster: InProcessCluster) -> bool:
    """Whether node3 is recorded so."""
    return not next(node.powered for node in cluster.config.nodes.values() if node.name == cluster.node(3).name)


def is_offline(cluster: InProcessCluster) -> bool:
    """Whether node3 is out of service."""
    return next(node.offline for node in cluster.config.nodes.values() if node.name == cluster.node(3).name)


#: Whatever was heard of a program, it may have switched the power: the record follows when it is said again.
OPERATIONS = {
    "off": Operation(OFF, partly=True, done=is_off),
    "on": Operation("gnt-node power --force on node3", (OFF,), partly=True),
    "cycle": Operation("gnt-node power --force cycle node2"),
    "powercycle": Operation("gnt-node powercycle --yes node2"),
    "restricted": Operation("gnt-node restricted-command --sync report node1 node2 node3"),
    "offline": Operation(OFFLINE, done=is_offline),
    "online": Operation("gnt-node modify --offline=no node3", (OFFLINE,), done=lambda cluster: not is_offline(cluster)),
    "drained": Operation("gnt-node modify --drained=yes --auto-promote --node-parameters spindle_count=3 node3"),
}


class NodeEachCallCase(EachCallCase):
    """What is recorded of the power of nodes is what they have, and exactly the candidates may make node calls."""

    program: PowerProgram

    def prepared(self, operation: Operation) -> InProcessCluster:
        """With the programs of the administrator."""
        self.cluster = self.new_cluster()
        self.program = PowerProgram(self.cluster)
        self.ok(f"gnt-cluster modify --node-parameters oob_program={PROGRAM}")
        for number in (1, 2, 3):
            node = self.cluster.node(number)
            path = node.paths.restricted_commands_dir / "report"
            put(node.disk, path, b"#!/bin/sh\n", 0o755)
            node.disk.set_mode(path.parent, 0o755)
            node.scripts.script([str(path)], ProcessResult(stdout=b"fine\n"))
        for line in operation.before:
            self.ok(line)
        self.cluster.network.sent.clear()
        return self.cluster

    def faults(self, cluster: InProcessCluster) -> list[str]:
        """Of power and roles, too."""
        config = cluster.config
        recorded = {node.name for node in config.nodes.values() if not node.powered}
        off = {cluster.node(number).name for number in self.program.off}
        candidates = {uuid for uuid, node in config.nodes.items() if node.master_candidate}
        callers = config.nodes.keys() & config.cluster.candidate_certs.keys()
        return [
            *super().faults(cluster),
            *(f"{name} is recorded as off, or is off, but not both" for name in recorded ^ off),
            *(f"{uuid} may make calls, or is a candidate, but not both" for uuid in candidates ^ callers),
        ]


@walks(OPERATIONS, full=False)
class NodeEachCallTests(NodeEachCallCase):
    """One job each."""


class NodeFailoverTests(EachCallCase):
    """All primary instances of a node are brought to their secondary node, each by a job."""

    def test_failover(self) -> None:
        """One call of one of the jobs goes wrong: the instance is on one of both nodes, as the configuration says."""
        line = "gnt-node failover -f node2"
        self.check_troubles(Operation(line, (MIRRORED,), mirrored=True, again=BACK, done=is_on_node3, pause=60.0))


class EpoEachCallTests(NodeEachCallCase):
    """Several jobs after one another, of which one call goes wrong: said again, the command has what it is for."""

    ADD = "gnt-instance add -t diskless -o noop -n node3 web1"

    def test_off(self) -> None:
        """What is stopped stays recorded as what should run, so that it may look as if something were amiss meanwhile."""
        self.check_troubles(Operation("gnt-cluster epo --all --force", (self.ADD,), partly=True))

    def test_on(self) -> None:
        """A node that could not be used again is, the second time."""
        before = (self.ADD, "gnt-cluster epo --all --force")
        self.check_troubles(Operation("gnt-cluster epo --on --all --force", before, partly=True))
