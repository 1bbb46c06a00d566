"""What the configuration daemons say of this node, asked again and again; the last answers stay when none answers."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec
from attrs import define, evolve, field
from twisted.internet.defer import CancelledError, Deferred, TimeoutError
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import LoopingCall
from twisted.logger import Logger
from twisted.python.failure import Failure
from zope.interface import Interface, implementer

from ganeti_tx.confd import questions
from ganeti_tx.confd.messages import NodeInstancesQuery, RequestType
from ganeti_tx.confd.questions import Question
from ganeti_tx.errors import GanetiError, one_line
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.disk_templates.plain import VolumeId
from ganeti_tx.model.settings.collectors import DataCollector
from ganeti_tx.mond.interfaces import IConfigFacts, KnownInstance, NodeFacts, Volume
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

log = Logger()

T = TypeVar("T")

#: The templates of disks that are logical volumes.
OF_VOLUMES = frozenset(word for word, template in TEMPLATES.items() if template.logical_id is VolumeId)
#: Seconds between two rounds of questions (Ganeti 3.0 monitoring table, "config_source").
INTERVAL = 15.0
#: Seconds after which nobody waits any more for the first round.
FIRST_ROUND = 5.0
#: Seconds for which the disks of an instance are not asked for again, unless it has others.
DISKS_AGE = 60.0
MAX_SSCONF = 64 * 1024
#: Seconds between two lines in the log while something is wrong all the time, though each time in other words.
QUIET = 3600.0

Settings = Mapping[str, DataCollector]


class IAsk(Interface):
    """A way to the configuration daemons."""

    async def ask(question: Question[T]) -> T:
        """The newest answer. @raise GanetiError: nobody answered in time, or the answer is an error."""


class NodeInstance(msgspec.Struct, frozen=True, array_like=True):
    """What is asked of an instance: what may be told, and what tells whether its disks must be asked for."""

    uuid: str
    name: str
    hypervisor: str
    admin_state: str
    mtime: float
    disks: tuple[str, ...]


def instances_on(node: str) -> Question[tuple[list[NodeInstance], list[NodeInstance]]]:
    """Those that have the node as primary, and as secondary; so much of each that a datagram holds some hundreds."""
    query = NodeInstancesQuery(node, NodeInstance.__struct_fields__)
    answer = tuple[list[NodeInstance], list[NodeInstance]]
    return Question(RequestType.NODE_INSTANCES, answer, msgspec.Raw(msgspec.json.encode(query)))


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
    """@ivar told: hears the collectors' settings and the enabled hypervisors after each round; as long as nobody has
    answered, there are no settings.
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
    _loop: LoopingCall | None = None
    _asking: "Deferred[None] | None" = None
    _told_fault: float | None = None  # when, since all was well

    def facts(self) -> NodeFacts:
        """See `IConfigFacts`."""
        return self._facts

    async def start(self) -> None:
        """Ask now and then on the interval; done once the first round is, or after a while without an answer."""
        first: Deferred[None] = Deferred()
        self._loop = LoopingCall(self._round, first)
        self._loop.clock = self.clock
        self._loop.start(INTERVAL)
        try:
            await first.addTimeout(FIRST_ROUND, self.clock)
        except TimeoutError:
            self.told(self.settings, self._hypervisors())

    def stop(self) -> None:
        """Ask no more, and wait for no answer."""
        if self._loop is not None and self._loop.running:
            self._loop.stop()
        if self._asking is not None:
            self._asking.cancel()

    def _round(self, first: "Deferred[None]") -> "Deferred[None]":
        self._asking = Deferred.fromCoroutine(self.refresh())
        self._asking.addErrback(self._broken)
        return self._asking.addCallback(lambda _: None if first.called else first.callback(None))

    def _broken(self, failure: Failure) -> None:
        """A fault of ours must not be the last round."""
        if failure.check(CancelledError) is None:
            log.failure("a round of questions broke", failure)

    async def refresh(self) -> None:
        """One round; what is answered counts, also when something else is not."""
        faults = [
            fault for learn in (self._settings, self._instances, self._minors) if (fault := await _tried(learn()))
        ]
        if not faults:
            self.heard = self.clock.seconds()
        self._tell_fault(faults[0] if faults else "")
        self._facts = evolve(self._facts, fault=faults[0] if faults else "")
        self.told(self.settings, self._hypervisors())

    async def _settings(self) -> None:
        told = await self.questions.ask(questions.collectors())
        self.settings = {name: DataCollector(active=each.active, interval=each.interval) for name, each in told.items()}

    async def _instances(self) -> None:
        own, others = await self.questions.ask(instances_on(self.node))
        self._facts = evolve(self._facts, instances=tuple(map(_known, own)), heard=True)
        await self._learn_volumes([*own, *others])

    async def _minors(self) -> None:
        told = await self.questions.ask(questions.node_drbd(self.node))
        self._facts = evolve(self._facts, minors={each.minor: each.instance for each in told})

    async def _learn_volumes(self, instances: list[NodeInstance]) -> None:
        names = {each.name for each in instances}
        self._disks = {name: known for name, known in self._disks.items() if name in names}
        for instance in instances:
            await self._learn_disks(instance)
        volumes = {volume: name for name, known in self._disks.items() for volume in known.volumes}
        self._facts = evolve(self._facts, volumes=volumes)

    async def _learn_disks(self, instance: NodeInstance) -> None:
        known, now = self._disks.get(instance.name), self.clock.seconds()
        if known is not None and known.disks == instance.disks and now - known.time < DISKS_AGE:
            return
        answer = await self.questions.ask(questions.instance_disks(instance.name))
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

    def _tell_fault(self, fault: str) -> None:
        """Into the log, when it is another than before."""
        now = self.clock.seconds()
        if not fault:
            self._told_fault = None
            if self._facts.fault:
                log.info("the configuration daemons answer")
        elif fault != self._facts.fault and (self._told_fault is None or now - self._told_fault >= QUIET):
            self._told_fault = now
            log.warn("the last known configuration stays: {fault}", fault=fault)


async def _tried(learning: Awaitable[None]) -> str:
    """What was wrong with an answer, in one line; nothing when all was right."""
    try:
        await learning
    except GanetiError as error:
        return one_line(error)
    except msgspec.ValidationError as error:
        return f"an answer does not fit: {error}"
    return ""


def _known(instance: NodeInstance) -> KnownInstance:
    return KnownInstance(**{name: getattr(instance, name) for name in KnownInstance.__struct_fields__})


def volumes_of(part: DiskPart) -> Iterator[Volume]:
    """The logical volumes that a disk is made of."""
    if part.dev_type in OF_VOLUMES and part.logical_id is not None and len(part.logical_id) == len(VolumeId._fields):
        yield str(part.logical_id[0]), str(part.logical_id[1])
    for child in part.children:
        yield from volumes_of(child)
