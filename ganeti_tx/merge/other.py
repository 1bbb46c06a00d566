"""The cluster that is merged, as it was told, and its nodes."""

from collections.abc import Callable, Iterable
from contextlib import suppress

from attrs import define

from ganeti_tx.config.upgrade import read_config
from ganeti_tx.errors import GanetiError
from ganeti_tx.merge.acceptable import check_configuration, check_instances, node_parameters
from ganeti_tx.merge.access import Access
from ganeti_tx.merge.documents import Admission, Empty, Halting, Looked, Named, Pause, Told
from ganeti_tx.merge.remote import Answer, StepFailed, run_step
from ganeti_tx.merge.steps import PROGRAM
from ganeti_tx.model.base import Wire
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.node import Node

NOTHING = Empty()


@define
class Other:
    """`address`: as it was typed. `stopped`: the instances that were up before, and are stopped."""

    address: str
    access: Access
    told: Told
    config: ConfigData
    stopped: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The cluster's."""
        return self.config.cluster.cluster_name

    @property
    def master(self) -> Node:
        """Its master node."""
        return self.config.nodes[self.config.cluster.master_node]

    @property
    def nodes(self) -> list[Node]:
        """Those that are not offline, the master first, then by name."""
        online = [node for node in self.config.nodes.values() if not node.offline]
        return sorted(online, key=lambda node: (node.uuid != self.master.uuid, node.name))

    @property
    def startable(self) -> list[str]:
        """Its instances but those that an administrator has taken out of service, or that are only reserved."""
        held = self.config.instances.values()
        return [each.name for each in held if each.admin_state is not AdminState.OFFLINE and not each.forthcoming]

    def port(self, node: Node) -> int:
        """Of its SSH daemon."""
        return node_parameters(self.config, node).ssh_port

    def on(self, node: Node, step: str, asked: Wire, gives: type[Answer]) -> Answer:
        """Have a node do a step. @raise StepFailed"""
        return run_step([*self.access.shell(self.port(node)), node.name], step, asked, gives)

    def on_master(self, step: str, asked: Wire) -> None:
        """@raise StepFailed"""
        self.on(self.master, step, asked, Empty)

    def on_each(self, step: str, nodes: Iterable[Node], asked: Wire = NOTHING) -> None:
        """Have nodes do a step, one after the other; all are asked. @raise StepFailed: every one that did not."""
        failed = []
        for node in nodes:
            try:
                self.on(node, step, asked, Empty)
            except StepFailed as error:
                failed.append(str(error))
        if failed:
            raise StepFailed(*failed)

    def let_in(self) -> None:
        """Have all nodes let the merge in. @raise StepFailed: every one that does not."""
        self.on_master("spread", Admission(key=self.access.public_key))

    def versions(self) -> dict[str, str]:
        """Of this program, by node. @raise StepFailed: every node that cannot be reached."""
        found, failed = {}, []
        for node in self.nodes:
            try:
                found[node.name] = self.on(node, "look", Empty(), Looked).version
            except StepFailed as error:
                failed.append(str(error))
        if failed:
            raise StepFailed(*failed)
        return found

    def pause(self, end: float | None) -> None:
        """Its watchers, until then. @raise StepFailed"""
        self.on_master("pause", Pause(end=end))

    def see_instances(self) -> None:
        """Know which run, or shall. @raise GanetiError: it cannot be known, or one is none of its instances"""
        names = self.on(self.master, "in-service", Empty(), Named).names
        check_instances(self.address, self.config, names)
        self.stopped = names

    def stop_instances(self) -> None:
        """Those that were seen. @raise StepFailed"""
        self.on_master("stop-instances", Named(names=self.stopped))

    def start_instances(self) -> None:
        """Those that were stopped. @raise StepFailed"""
        self.on_master("start-instances", Named(names=self.stopped))

    def halt(self) -> None:
        """Stop its daemons, the master's first. @raise StepFailed: every node on which they do not end."""
        self.on_each("halt", self.nodes, Halting(stopped=self.stopped, was_drained=self.told.was_drained))

    def undrain(self) -> None:
        """Have its queue take jobs again. @raise StepFailed"""
        self.on_master("undrain", Empty())

    def restore(self) -> None:
        """Have its daemons run again, the master's last. @raise StepFailed: every node on which they do not."""
        try:
            self.on_each("restore", reversed(self.nodes))
        except StepFailed as error:
            again = f"There, '{PROGRAM} restore < /dev/null' says it again, on the master last"
            raise StepFailed(*error.args, again) from None

    def ask_again(self) -> None:
        """What it is now. @raise GanetiError"""
        self.told = self.on(self.master, "tell", Empty(), Told)
        self.config = decoded(self.address, self.told)


def contact(address: str, access: Access, is_ours: Callable[[str], bool]) -> Other:
    """Be let in by the master of a cluster, and ask it what the cluster is. @raise GanetiError: it cannot be.

    @param is_ours: whether a node is in service in this cluster.
    """
    run_step(access.first(address), "admit", Admission(key=access.public_key), Empty)
    shell = [*access.shell(), address]
    try:
        seen = run_step(shell, "look", Empty(), Looked)
        if seen.strayed and not is_ours(seen.name):
            run_step(shell, "put-back", Empty(), Empty)
        told = run_step(shell, "tell", Empty(), Told)
        other = Other(address, access, told, decoded(address, told))
    except BaseException:
        with suppress(StepFailed):
            run_step(shell, "expel", Empty(), Empty)
        raise
    access.know(told.known_hosts)
    return other


def decoded(address: str, told: Told) -> ConfigData:
    """Its configuration, which nothing is done with before. @raise GanetiError: it cannot be read, or not be taken"""
    try:
        config = read_config(told.config).config
    except GanetiError as error:
        raise GanetiError(f"{address}: its configuration cannot be read: {error}") from None
    check_configuration(address, config)
    check_instances(address, config, told.stopped)
    return config
