"""Two clusters in memory: this one, and one that is merged into it, whose nodes do their steps at once."""

from collections.abc import Collection
from typing import Any

import msgspec
from attrs import define, field
from msgspec.structs import replace

from ganeti_tx import __version__
from ganeti_tx.config.changes_merge import join_cluster, part_clusters
from ganeti_tx.config.merging.choices import Choices
from ganeti_tx.config.merging.ports import stopped
from ganeti_tx.errors import GanetiError
from ganeti_tx.merge.documents import Empty, Looked, Named, Told
from ganeti_tx.merge.other import Other
from ganeti_tx.merge.remote import StepFailed
from ganeti_tx.model.config_data import ConfigData, encode
from ganeti_tx.model.node import Node
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.config.merging.clusters import OURS, other_cluster

NOW = 5.0
#: The instance that runs in the other cluster.
RUNNING = "web2.example.com"


@define
class Log:
    """What was done, one after the other; what is in `failing` fails instead."""

    done: list[str] = field(factory=list)
    failing: set[str] = field(factory=set)

    def do(self, what: str) -> None:
        """Note it. @raise GanetiError: it fails."""
        self.done.append(what)
        if what in self.failing:
            raise StepFailed(f"{what} does not work")


@define
class FakeOwn:
    """This cluster."""

    paths: Paths
    log: Log
    held: ConfigData = OURS
    drained: bool = False
    pause_end: float | None = None
    started: set[str] = field(factory=set)
    #: Nodes that are gone when the configuration is distributed.
    lost: set[str] = field(factory=set)

    def check(self) -> None:
        """It is the master."""
        self.log.do("check")

    def state(self) -> tuple[bool, float | None]:
        """As it is."""
        return self.drained, self.pause_end

    def config(self) -> ConfigData:
        """As it is."""
        return self.held

    def in_service(self, name: str) -> bool:
        """Whether a node is."""
        return any(node.name == name and not node.offline for node in self.held.nodes.values())

    def pause(self, end: float | None) -> None:
        """The watcher."""
        self.log.do("pause")
        self.pause_end = end

    def drain(self) -> None:
        """The queue."""
        self.drained = True
        self.log.do("drain")

    def open(self) -> None:
        """The queue."""
        self.drained = False

    def join(self, other: ConfigData, choices: Choices) -> None:
        """The real change."""
        self.held = join_cluster(other, choices)(self.held, NOW)
        self.log.do("join")

    def part(self, other: ConfigData) -> None:
        """The real change."""
        self.log.do("part")
        self.held = part_clusters([*other.nodes, *other.instances, *other.disks, *other.networks])(self.held, NOW)

    def start(self, names: Collection[str]) -> None:
        """Instances."""
        self.log.do("start")
        self.started.update(names)

    def names(self) -> tuple[set[str], set[str]]:
        """Of nodes and instances."""
        return (
            {node.name for node in self.held.nodes.values()},
            {instance.name for instance in self.held.instances.values()},
        )

    def run(self, program: str, *arguments: str, environ: Any = None) -> str:
        """A command; a node that is added again is in service."""
        self.log.do(" ".join([program, *arguments]))
        nodes = self.held.nodes
        if arguments[:2] == ("add", "--readd"):
            nodes = {
                uuid: replace(node, offline=False) if node.name == arguments[2] else node
                for uuid, node in nodes.items()
            }
        if arguments == ("redist-conf",):
            nodes = {uuid: node for uuid, node in nodes.items() if node.name not in self.lost}
        self.held = replace(self.held, nodes=nodes)
        return ""


@define
class State:
    """What the other cluster is like."""

    halted: set[str] = field(factory=set)
    let_in: set[str] = field(factory=set)
    drained: bool = False
    pause_end: float | None = None
    running: set[str] = field(factory=lambda: {RUNNING})
    #: As the record of a node has it that was halted.
    stopped: tuple[str, ...] = ()

    def told(self) -> Told:
        """What its master says; its configuration knows what runs."""
        config = other_cluster() if self.running else stopped(other_cluster())
        return Told(
            version=__version__,
            config=encode(config),
            known_hosts="",
            was_drained=self.drained,
            pause_end=self.pause_end,
            halted=bool(self.halted),
            stopped=self.stopped,
        )


@define
class FakeOther(Other):
    """The other cluster; `state` is what its nodes make of it."""

    log: Log = field(factory=Log, kw_only=True)
    state: State = field(factory=State, kw_only=True)

    def on(self, node: Node, step: str, asked: Any, gives: Any) -> Any:
        """Have a node do a step."""
        self.log.do(f"{node.name.split('.')[0]} {step}")
        state = self.state
        if step == "tell":
            return state.told()
        if step == "look":
            return Looked(version=__version__, name=node.name, strayed=False)
        if step == "in-service":
            return Named(names=tuple(sorted(state.running)))
        if step == "spread":
            state.let_in |= {each.name for each in self.nodes}
        elif step == "expel":
            state.let_in.discard(node.name)
        elif step == "pause":
            state.pause_end = asked.end
        elif step == "stop-instances":
            state.running -= set(asked.names)
        elif step == "start-instances":
            self._needs_master()
            state.running |= set(asked.names)
        elif step in ("drain", "undrain"):
            self._needs_master()
            state.drained = step == "drain"
        elif step == "halt":
            state.halted.add(node.name)
            state.stopped = asked.stopped
        elif step == "restore":
            state.halted.discard(node.name)
        return Empty()

    def _needs_master(self) -> None:
        if self.state.halted:
            raise GanetiError("the master daemon does not run")


def as_bytes(config: ConfigData) -> bytes:
    """To be compared, whatever was counted meanwhile."""
    held = [config.nodes, config.instances, config.disks, config.networks]
    return msgspec.json.encode(held, order="deterministic")
