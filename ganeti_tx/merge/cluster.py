"""One run of cluster-merge: everything is checked, then done step by step; until a node is added all is taken back on failure."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial

from attrs import define, field

from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.config.merging.choices import Choices
from ganeti_tx.errors import GanetiError
from ganeti_tx.merge.access import Access
from ganeti_tx.merge.checks import check_configurations, check_nodes, check_queues
from ganeti_tx.merge.comparison import Names, expected, missing
from ganeti_tx.merge.documents import Empty
from ganeti_tx.merge.options import MergeOptions, Restart
from ganeti_tx.merge.other import Other, contact
from ganeti_tx.merge.own import OwnCluster
from ganeti_tx.merge.recovery import recover
from ganeti_tx.merge.undoing import Undoing, uninterrupted
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.node import Node


@define
class ClusterMerge:
    """`say` tells the operator, `tell` if he wants to know more. `failures`: what he must look at in the end."""

    own: OwnCluster
    access: Access
    options: MergeOptions
    say: Callable[[str], None]
    tell: Callable[[str], None]
    contact: Callable[[str, Access, Callable[[str], bool]], Other] = contact
    failures: list[str] = field(factory=list, init=False)
    warned: set[str] = field(factory=set, init=False)

    @property
    def choices(self) -> Choices:
        """What the configurations are merged by."""
        return Choices(groups=self.options.groups, conflicts=self.options.conflicts)

    def run(self, addresses: Sequence[str]) -> bool:
        """Merge the clusters; whether all went well. @raise GanetiError: nothing was done, or all was taken back."""
        self.own.check()
        try:
            self._merge(addresses)
        finally:
            for failure in self.failures:
                self.say(f"Failed: {failure}")
        return not self.failures

    def _merge(self, addresses: Sequence[str]) -> None:
        with ExitStack() as closing:
            others = [self._contact(address, closing) for address in addresses]
            for other in others:
                recover(self.own, other, self.say)
            self._check(others)
            before = expected(self.own, others)
            with Undoing(self.say) as undoing:
                self._pause(others, undoing, closing)
                self._stop(others, undoing)
                self._take_in(others, undoing)
                with uninterrupted():
                    self._add_nodes(others, undoing)
                    self._finish(others)
        self._start_instances(others)
        self._compare(before)
        self._verify()

    def _contact(self, address: str, closing: ExitStack) -> Other:
        self.say(f"Contacting {address}")
        other = self.contact(address, self.access, self.own.in_service)
        closing.callback(self._attempt, partial(other.on_each, "expel", other.nodes))
        other.let_in()
        return other

    def _check(self, others: Sequence[Other]) -> None:
        self.say("Checking the clusters")
        check_queues(self.own.state()[0], others)
        check_nodes(self.own.paths, others)
        self._judge(others, will_stop=not self.options.skip_stop_instances)

    def _judge(self, others: Sequence[Other], *, will_stop: bool) -> None:
        """Each warning is said once. @raise BootstrapError: they cannot be merged."""
        for warning in check_configurations(self.own.config(), others, self.choices, will_stop=will_stop):
            if warning not in self.warned:
                self.warned.add(warning)
                self.say(f"Warning: {warning}")

    def _pause(self, others: Sequence[Other], undoing: Undoing, closing: ExitStack) -> None:
        """The watchers of all, which would start daemons and instances."""
        end = time.time() + self.options.pause_period
        self.say(f"Pausing the watchers until {time.ctime(end)}")
        _, own_end = self.own.state()
        closing.callback(self._attempt, partial(self.own.pause, own_end if own_end and own_end > time.time() else None))
        self.own.pause(end)
        for other in others:
            undoing.undo(f"The watcher of {other.name} goes on", partial(other.pause, other.told.pause_end))
            other.pause(end)

    def _stop(self, others: Sequence[Other], undoing: Undoing) -> None:
        """Instances, jobs and daemons of the other clusters."""
        for other in others:
            if not self.options.skip_stop_instances:
                other.see_instances()
                self.say(f"Stopping {len(other.stopped)} instance(s) of {other.name}")
                self.tell(" ".join(other.stopped))
                undoing.undo(f"Starting the instances of {other.name}", other.start_instances)
                other.stop_instances()
            undoing.undo(f"Opening the job queue of {other.name}", other.undrain)
            self.say(f"Draining the job queue of {other.name}")
            other.on_master("drain", Empty())
            self.say(f"Stopping the daemons of {other.name}")
            undoing.undo(f"Starting the daemons of {other.name}", other.restore)
            other.halt()
            other.ask_again()
            self._check_stopped(other)
        self._judge(others, will_stop=False)

    def _check_stopped(self, other: Other) -> None:
        """@raise BootstrapError: somebody has started an instance meanwhile"""
        up = [each.name for each in other.config.instances.values() if each.admin_state is AdminState.UP]
        if up and not self.options.skip_stop_instances:
            raise BootstrapError(f"{other.name}: {', '.join(up)} was started before its job queue was drained")

    def _take_in(self, others: Sequence[Other], undoing: Undoing) -> None:
        """Merge the configurations, while no job of ours is under way."""
        with ExitStack() as opening:
            opening.callback(self._attempt, self.own.open)
            self.own.drain()
            for other in others:
                self.say(f"Merging the configuration of {other.name}")
                undoing.undo(f"Taking {other.name} out of the configuration", partial(self.own.part, other.config))
                self.own.join(other.config, self.choices)

    def _add_nodes(self, others: Sequence[Other], undoing: Undoing) -> None:
        """One by one, the former masters first, so that nothing is left of them that could act."""
        for other, node in self._in_order(others):
            self.say(f"Adding node {node.name}")
            try:
                environ = self.access.environ(other.port(node))
                self.tell(self.own.run("gnt-node", "add", "--readd", node.name, environ=environ).rstrip())
            except GanetiError as error:
                if not undoing.kept:
                    raise
                self.failures.append(f"{error}; 'gnt-node add --readd {node.name}' adds it")
                continue
            undoing.keep()
            if node.drained:
                self._attempt(partial(self.own.run, "gnt-node", "modify", "--drained=yes", node.name))

    def _in_order(self, others: Sequence[Other]) -> list[tuple[Other, Node]]:
        pairs = [(other, node) for other in others for node in other.nodes]
        return sorted(pairs, key=lambda pair: pair[1].uuid != pair[0].master.uuid)

    def _finish(self, others: Sequence[Other]) -> None:
        self.say("Distributing the configuration")
        self._attempt(partial(self.own.run, "gnt-cluster", "redist-conf"))
        for other in others:
            self._attempt(partial(other.on_each, "settle", other.nodes))
            for node in other.config.nodes.values():
                if node.offline:
                    self.say(
                        f"Node {node.name} was offline and is so; 'gnt-node add --readd {node.name}' when it is back"
                    )

    def _start_instances(self, others: Sequence[Other]) -> None:
        names = set[str]()
        for other in others:
            wanted = {
                Restart.NONE: (),
                Restart.UP: other.stopped,
                Restart.ALL: other.startable,
            }
            names.update(wanted[self.options.restart])
        if names:
            self.say(f"Starting {len(names)} instance(s)")
            self._attempt(partial(self.own.start, names))

    def _compare(self, before: Names) -> None:
        self.say("Comparing nodes and instances with what there was")
        self._attempt(lambda: self.failures.extend(missing(self.own, before)))

    def _verify(self) -> None:
        self.say("Verifying the cluster")
        self._attempt(partial(self.own.run, "gnt-cluster", "verify"))

    def _attempt(self, work: Callable[[], object]) -> None:
        """What fails is told in the end, and stops nothing."""
        try:
            work()
        except (GanetiError, OSError) as error:
            self.failures.append(str(error))
