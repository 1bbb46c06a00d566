"""What the configuration daemons say of this node, asked again and again; the last answers stay when none answers."""

from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum
from typing import Any

import msgspec
from attrs import define, evolve, field
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import LoopingCall
from twisted.logger import Logger
from zope.interface import Interface, implementer

from ganeti_tx.errors import GanetiError, one_line
from ganeti_tx.model.cluster import DataCollector
from ganeti_tx.mond.interfaces import IConfigFacts, KnownInstance, NodeFacts, Volume
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

log = Logger()

#: Seconds between two rounds of questions (Ganeti 3.0 monitoring table, "config_source").
INTERVAL = 15.0
#: Seconds for which the disks of an instance are not asked for again, unless it has others.
DISKS_AGE = 60.0
MAX_SSCONF = 64 * 1024

Settings = Mapping[str, DataCollector]


class Question(IntEnum):
    """The requests of a configuration daemon that are made here (Ganeti 3.0 confd table)."""

    NODE_DRBD = 7
    NODE_INSTANCES = 8
    INSTANCE_DISKS = 9
    DATA_COLLECTORS = 11


class IAsk(Interface):
    """A way to the configuration daemons."""

    async def ask(question: Question, query: Any) -> Any:
        """The newest answer. @raise GanetiError: nobody answered in time, or the answer is an error."""


class NodeInstance(KnownInstance, frozen=True, kw_only=True):
    """The same with what tells whether its disks must be asked for."""

    disks: tuple[str, ...] = ()


class DiskPart(msgspec.Struct, frozen=True):
    """As much of a disk as tells its volumes; a logical id may hold a secret and does not leave this file."""

    dev_type: str
    logical_id: tuple[Any, ...] | None = None
    children: "tuple[DiskPart, ...]" = ()


@define
class KnownDisks:
    """The volumes of one instance, when they were asked for, and for which disks."""

    time: float
    disks: tuple[str, ...]
    volumes: tuple[Volume, ...]


@implementer(IConfigFacts)
@define(eq=False)
class ConfigFacts:
    """@ivar told: hears the collectors' settings and the enabled hypervisors after each round; before the first
    answer, the settings are empty.
    """

    node: str
    questions: IAsk
    files: IFiles
    paths: Paths
    clock: IReactorTime
    told: Callable[[Settings, tuple[str, ...]], None] = lambda settings, hypervisors: None
    settings: Settings = field(factory=dict)
    heard: float | None = None  # when all was last told, by the clock
    _facts: NodeFacts = field(factory=NodeFacts)
    _disks: dict[str, KnownDisks] = field(factory=dict)
    _fault: str = ""
    _loop: LoopingCall | None = None

    def facts(self) -> NodeFacts:
        """See `IConfigFacts`."""
        return self._facts

    def start(self) -> None:
        """Ask now and from then on."""
        self.told(self.settings, self._hypervisors())
        self._loop = LoopingCall(lambda: Deferred.fromCoroutine(self.refresh()))
        self._loop.clock = self.clock
        self._loop.start(INTERVAL).addErrback(lambda failure: log.failure("questions ended", failure))

    def stop(self) -> None:
        """Ask no more."""
        if self._loop is not None and self._loop.running:
            self._loop.stop()

    async def refresh(self) -> None:
        """One round; what is answered counts, also when a later question is not."""
        try:
            await self._ask_all()
        except (GanetiError, msgspec.ValidationError) as error:
            self._hear_fault(one_line(error) if isinstance(error, GanetiError) else f"an answer does not fit: {error}")
        else:
            self._hear_fault("")
            self.heard = self.clock.seconds()
        self.told(self.settings, self._hypervisors())

    async def _ask_all(self) -> None:
        answer = await self.questions.ask(Question.DATA_COLLECTORS, None)
        self.settings = msgspec.convert(answer, dict[str, DataCollector])
        answer = await self.questions.ask(Question.NODE_INSTANCES, self.node)
        own, others = msgspec.convert(answer, tuple[list[NodeInstance], list[NodeInstance]])
        self._facts = evolve(self._facts, instances=tuple(map(_known, own)), heard=True)
        rows = msgspec.convert(
            await self.questions.ask(Question.NODE_DRBD, self.node), list[tuple[str, int, str, str, str, str]]
        )
        self._facts = evolve(self._facts, minors={minor: owner for _, minor, owner, *_ in rows})
        self._disks = {name: kept for name, kept in self._disks.items() if name in {each.name for each in own + others}}
        for instance in own + others:
            await self._learn_disks(instance)
        volumes = {volume: name for name, known in self._disks.items() for volume in known.volumes}
        self._facts = evolve(self._facts, volumes=volumes)

    async def _learn_disks(self, instance: NodeInstance) -> None:
        known, now = self._disks.get(instance.name), self.clock.seconds()
        if known is not None and known.disks == instance.disks and now - known.time < DISKS_AGE:
            return
        answer = await self.questions.ask(Question.INSTANCE_DISKS, instance.name)
        parts = msgspec.convert(answer, list[DiskPart])
        volumes = tuple(volume for part in parts for volume in volumes_of(part))
        self._disks[instance.name] = KnownDisks(now, instance.disks, volumes)

    def _hypervisors(self) -> tuple[str, ...]:
        """What the node's own files say is enabled; nothing when they cannot be read."""
        try:
            text = self.files.read(self.paths.ssconf_file("hypervisor_list"), MAX_SSCONF)
        except OSError:
            return ()
        return tuple(text.decode("ascii", "replace").split())

    def _hear_fault(self, fault: str) -> None:
        if fault != self._fault:
            self._fault = fault
            if fault:
                log.warn("the last known configuration stays: {fault}", fault=fault)
            else:
                log.info("the configuration daemons answer")


def _known(instance: NodeInstance) -> KnownInstance:
    return KnownInstance(**{name: getattr(instance, name) for name in KnownInstance.__struct_fields__})


def volumes_of(part: DiskPart) -> Iterator[Volume]:
    """The logical volumes that a disk is made of."""
    if part.dev_type == "plain" and part.logical_id is not None and len(part.logical_id) == 2:
        yield str(part.logical_id[0]), str(part.logical_id[1])
    for child in part.children:
        yield from volumes_of(child)
