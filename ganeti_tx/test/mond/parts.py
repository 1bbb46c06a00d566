"""What the tests of the monitoring daemon compare with, and parts that they share."""

import json
from pathlib import Path
from typing import Any

import msgspec
from attrs import define, field
from twisted.internet.defer import Deferred
from zope.interface import implementer

from ganeti_tx.confd.messages import RequestType
from ganeti_tx.confd.questions import Question
from ganeti_tx.errors import ConfdClientError
from ganeti_tx.mond.config_facts import IAsk
from ganeti_tx.mond.interfaces import Category, ICollector, IConfigFacts, Kind, KnownInstance, NodeFacts
from ganeti_tx.runtime.files import IFiles

FACTS = Path(__file__).parent / "facts"


def load(name: str) -> Any:
    """One of the files of facts."""
    return json.loads((FACTS / f"{name}.json").read_text())


CONTRACT = load("mond")


@implementer(IConfigFacts)
@define
class FixedFacts:
    """A configuration that says always the same."""

    known: NodeFacts = field(factory=NodeFacts)

    def facts(self) -> NodeFacts:
        """See `IConfigFacts`."""
        return self.known


@implementer(ICollector)
@define(eq=False)
class Scripted:
    """A collector whose looks end when the test says so; each waits in `looks`."""

    name: str = "scripted"
    category: Category | None = None
    kind: Kind = Kind.PERFORMANCE
    format_version: int = 1
    looks: "list[Deferred[Any]]" = field(factory=list)
    cancelled: "list[Deferred[Any]]" = field(factory=list)

    async def collect(self) -> Any:
        """See `ICollector`."""
        look: Deferred[Any] = Deferred(self.cancelled.append)
        self.looks.append(look)
        return await look


@implementer(IAsk)
class Silent:
    """Configuration daemons that answer nobody."""

    async def ask(self, question: Question[Any]) -> Any:
        """See `IAsk`."""
        raise ConfdClientError("nobody answers")


@implementer(IAsk)
@define
class Answering:
    """Configuration daemons that answer what the test says, by the kind of question and its query (an object: as text).

    An exception is raised, a Deferred waited for.
    """

    answers: dict[tuple[RequestType, Any], Any] = field(factory=dict)
    asked: list[tuple[RequestType, Any]] = field(factory=list)

    async def ask(self, question: Question[Any]) -> Any:
        """See `IAsk`."""
        query = msgspec.json.decode(question.query)
        if isinstance(query, dict):
            query = bytes(question.query).decode()
        self.asked.append((question.type, query))
        if (question.type, query) in self.answers:
            return await self._answer(question, self.answers[question.type, query])
        raise ConfdClientError(f"{question.type.name}: nobody answers")

    async def _answer(self, question: Question[Any], answer: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Deferred):
            answer = await answer
        return question.read(answer)


def as_sent(data: Any) -> Any:
    """Data as a client reads it."""
    return json.loads(msgspec.json.encode(data))


def known(name: str, hypervisor: str = "kvm", admin_state: str = "up") -> KnownInstance:
    """An instance of the configuration."""
    return KnownInstance(uuid=f"uuid-{name}", name=name, hypervisor=hypervisor, admin_state=admin_state, mtime=1234.5)


def put(files: IFiles, path: Path | str, text: str) -> None:
    """A file in memory with some text."""
    files.mkdir(Path(path).parent)
    Deferred.fromCoroutine(files.write_atomic(Path(path), text.encode()))
