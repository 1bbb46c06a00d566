"""Three nodes that are cut off, taken over, broken off and started in any order: never two masters, and no work is lost."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.ssconf import ssconf_values
from ganeti_tx.errors import GanetiError
from ganeti_tx.mastership.term import read_term
from ganeti_tx.model.config_data import encode
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.cluster import UploadFile, WriteSsconfFiles
from ganeti_tx.rpc.calls.master import NodeStartMasterDaemons
from ganeti_tx.rpc.interfaces import RpcError
from ganeti_tx.test.election.nodes import NAMES, PATHS, Killed, MemoryNode, ThreeNodes, three_nodes

NODES = st.sampled_from(NAMES)


class Walk(RuleBasedStateMachine):
    """`work` counts changes of the configuration; the cluster's only tag has the number of the last."""

    def __init__(self) -> None:
        super().__init__()
        self.cluster = ThreeNodes()
        self.work = self.acknowledged = 0
        self.ages: dict[str, tuple[int, int]] = {}
        config = three_nodes()
        for node in self.cluster.nodes.values():
            node.have(replace(config, cluster=replace(config.cluster, tags=("0",))))

    def node(self, name: str) -> MemoryNode:
        """A node."""
        return self.cluster.nodes[name]

    @rule(name=NODES)
    def cut_off(self, name: str) -> None:
        """Nobody reaches a node, and it reaches nobody."""
        self.node(name).reachable = False

    @rule(name=NODES)
    def reach(self, name: str) -> None:
        """It is back."""
        self.node(name).reachable = True

    @rule(name=NODES)
    def crash(self, name: str) -> None:
        """Its master daemons die."""
        self.node(name).running = False

    @rule(name=NODES)
    def start(self, name: str) -> None:
        """Its master daemons are started."""
        node = self.node(name)
        if not node.running:
            try:
                self.cluster.finish(node.start(NodeStartMasterDaemons(no_voting=False)))
            except GanetiError:
                return

    @rule(name=NODES, last=st.one_of(st.none(), st.integers(1, 20)))
    def fail_over(self, name: str, last: int | None) -> None:
        """Somebody wants it to be the master; the command may be killed at a step."""
        count = 0

        def step(what: str) -> None:
            nonlocal count
            count += 1
            if count == last:
                raise Killed

        self.cluster.step = step
        try:
            self.cluster.failover(name)
        except (GanetiError, Killed):
            return
        finally:
            self.cluster.step = lambda what: None

    @rule(name=NODES)
    def restart_daemon(self, name: str) -> None:
        """Its node daemon is started again."""
        self.node(name).start_daemon()

    @precondition(lambda self: self.copies())
    @rule(data=st.data())
    def come_late(self, data: st.DataObject) -> None:
        """Something that was sent long ago comes, or comes once more."""
        caller, name, call = data.draw(st.sampled_from(self.copies()))
        try:
            self.cluster.finish(self.node(name).dispatch.perform(call, caller))
        except GanetiError:
            return

    def copies(self) -> list[tuple[str, str, NodeCall[object]]]:
        """What was sent that nodes keep: by whom, to whom."""
        return [each for each in self.cluster.sent if isinstance(each[2], UploadFile | WriteSsconfFiles)]

    @precondition(lambda self: self.cluster.masters())
    @rule(data=st.data())
    def change(self, data: st.DataObject) -> None:
        """A node that runs as the master changes the configuration and sends it; it ends when it learns of another."""
        name = data.draw(st.sampled_from(self.cluster.masters()))
        node = self.node(name)
        if node.master != name or node.config.nodes[node.config.cluster.master_node].name != name:
            node.running = False
            return
        self.work += 1
        cluster = replace(node.config.cluster, tags=(str(self.work),))
        changed = replace(node.config, serial_no=node.config.serial_no + 1, cluster=cluster)
        node.have(changed)
        taken = 1 + sum(self.send(name, other) for other in NAMES if other != name)
        if 2 * taken > len(NAMES):
            self.acknowledged = self.work
        elif not node.may_start() and all(each.reachable for each in self.cluster.nodes.values()):
            node.running = False

    def send(self, name: str, other: str) -> bool:
        """Whether another node takes the configuration."""
        config = self.node(name).config
        target = next(node for node in config.nodes.values() if node.name == other)
        try:
            for call in (
                UploadFile(path=str(PATHS.config_file), data=encode(config), serial=config.serial_no),
                WriteSsconfFiles(values=ssconf_values(config), serial=config.serial_no),
            ):
                self.cluster.finish(self.cluster.master_rpc(name).call(target, call))
        except RpcError:
            return False
        return True

    @invariant()
    def never_two(self) -> None:
        """Of the nodes that run as the master at most one would win a vote."""
        masters = [name for name in NAMES if self.node(name).running and self.node(name).may_start()]
        assert len(masters) <= 1, masters

    @invariant()
    def never_back(self) -> None:
        """The configuration on a node is never of an older term, nor older within its term."""
        for name, node in self.cluster.nodes.items():
            term = read_term(node.files, PATHS)
            age = (0 if term is None else term.config, node.config.serial_no)
            assert age >= self.ages.get(name, age), (name, age, self.ages)
            self.ages[name] = age

    def teardown(self) -> None:
        """When all are back some node can become the master, and what a quorum had taken is there."""
        for node in self.cluster.nodes.values():
            node.reachable = True
        reasons = []
        for name in NAMES:
            try:
                self.cluster.failover(name)
            except GanetiError as error:
                reasons.append(str(error))
                if not (self.node(name).running and self.node(name).may_start()):
                    continue
            (done,) = self.node(name).config.cluster.tags
            assert int(done) >= self.acknowledged, (done, self.acknowledged)
            assert self.cluster.possible_masters() == [name], (name, self.cluster.possible_masters())
            return
        raise AssertionError(reasons)


class WalkTests(SynchronousTestCase):
    """Many walks."""

    def test_walks(self) -> None:
        """None leads to two masters, to lost work, or to a cluster that no node can lead."""
        run_state_machine_as_test(Walk, settings=settings(max_examples=60, stateful_step_count=25, deadline=None))
