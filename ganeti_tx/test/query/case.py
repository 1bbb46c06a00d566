"""A cluster in memory that tests ask, with node answers made to order."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from attrs import define, field
from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockStatus
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.node import Node
from ganeti_tx.query.collect import Queries
from ganeti_tx.query.jobs import JobRef, JobRow
from ganeti_tx.query.resources import make_queries
from ganeti_tx.query.view import Views
from ganeti_tx.rpc.calls.backup import ExportList
from ganeti_tx.rpc.calls.instance import AllInstancesInfo
from ganeti_tx.rpc.calls.node import NodeFacts, NodeInfo
from ganeti_tx.test.fakes.rpc import FakeNodeRpc
from ganeti_tx.test.model.samples import CONFIG, INSTANCE, NODE

E = TypeVar("E", bound=Exception)


@define
class FakeJobs:
    """The jobs of a test; says what was loaded."""

    jobs: Callable[[], Mapping[int, JobRow]]
    loaded: list[tuple[list[int], bool]] = field(factory=list)
    gone: bool = False

    async def find(self, ids: Sequence[int] | None, archived: bool) -> Sequence[JobRef]:
        """As Jobs says."""
        known = self.jobs()
        return [JobRef(id, False) for id in (sorted(known) if ids is None else ids) if id in known]

    async def load(self, refs: Sequence[JobRef], whole: bool) -> Mapping[int, JobRow]:
        """As Jobs says."""
        self.loaded.append(([ref.id for ref in refs], whole))
        return {ref.id: self.jobs()[ref.id] for ref in refs if not self.gone and ref.archived is not None}


class QueryCase(SynchronousTestCase):
    """What a test asks in one line. Change `config`, `rpc`, `locks` and `jobs` before asking."""

    def setUp(self) -> None:
        """The sample cluster, whose nodes have nothing to tell."""
        self.config = CONFIG
        self.rpc = FakeNodeRpc()
        self.rpc.answer(NodeInfo, NodeFacts(boot_id="", storage=[], hypervisors={}))
        self.rpc.answer(AllInstancesInfo, {})
        self.rpc.answer(ExportList, [])
        self.locks: Sequence[LockStatus] = ()
        self.jobs: dict[int, dict[str, Any]] = {}
        self.keeper = FakeJobs(lambda: self.jobs)
        self.queries = self.make_queries()

    def make_queries(self) -> Queries:
        """The queries over whatever the attributes hold when one is asked."""
        return make_queries(Views(lambda: self.config), self.rpc, lambda: self.locks, self.keeper)

    def ask(self, what: str, fields: Sequence[str], condition: object = None) -> Any:
        """The cells of a query, row by row."""
        return self.successResultOf(self.queries.query(what, fields, condition))["data"]

    def column(self, what: str, field: str, condition: object = None) -> list[Any]:
        """The cells of one field."""
        return [cell for (cell,) in self.ask(what, [field], condition)]

    def names(self, what: str, condition: object = None) -> list[Any]:
        """The names of the items that pass."""
        return [value for _, value in self.column(what, self.queries.resources[what].name_field, condition)]

    def classic(self, what: str, items: Sequence[str], fields: Sequence[str]) -> Any:
        """The rows of a classic query."""
        return self.successResultOf(self.queries.classic(what, items, fields))

    def refusal(self, error: type[E], what: str, fields: Sequence[str], condition: object = None) -> E:
        """The error of a query that must fail."""
        found = self.failureResultOf(self.queries.query(what, fields, condition), error).value
        assert isinstance(found, error)
        return found

    def refuses(self, ecode: ECode, what: str, fields: Sequence[str], condition: object = None) -> None:
        """The query fails with this code."""
        self.assertEqual(self.refusal(OpPrereqError, what, fields, condition).ecode, ecode)

    def add_node(self, name: str, **changes: Any) -> Node:
        """One more node, whose uuid is its name's first part with -uuid."""
        node = replace(NODE, name=name, uuid=f"{name.split('.')[0]}-uuid", **changes)
        self.config = replace(self.config, nodes={**self.config.nodes, node.uuid: node})
        return node

    def add_instance(self, name: str, **changes: Any) -> Instance:
        """One more instance, without NICs and disks unless `changes` say so."""
        instance = replace(INSTANCE, **{"name": name, "uuid": f"{name}-uuid", "nics": (), "disks": (), **changes})
        self.config = replace(self.config, instances={**self.config.instances, instance.uuid: instance})
        return instance

    def change_node(self, uuid: str, **changes: Any) -> None:
        """Other settings for a node."""
        nodes = {**self.config.nodes, uuid: replace(self.config.nodes[uuid], **changes)}
        self.config = replace(self.config, nodes=nodes)

    def change_instance(self, uuid: str = INSTANCE.uuid, **changes: Any) -> None:
        """Other settings for an instance."""
        instances = {**self.config.instances, uuid: replace(self.config.instances[uuid], **changes)}
        self.config = replace(self.config, instances=instances)

    def change_cluster(self, **changes: Any) -> None:
        """Other settings for the cluster."""
        self.config = replace(self.config, cluster=replace(self.config.cluster, **changes))
