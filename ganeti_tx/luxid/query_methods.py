"""LUXI's methods that read."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from attrs import define, field
from twisted.internet.interfaces import IReactorTime

from ganeti_tx.luxi.long_answers import encode_elements
from ganeti_tx.luxid.cluster_info import ClusterInfo
from ganeti_tx.luxid.dispatch import Answer
from ganeti_tx.luxid.prompt_rpc import PromptRpc
from ganeti_tx.luxid.shared_rpc import SharedRpc
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.query.collect import Queries
from ganeti_tx.query.encoded import in_ascii
from ganeti_tx.query.language.slices import Slices
from ganeti_tx.query.resources import Jobs, Locks, make_queries
from ganeti_tx.query.view import View, Views
from ganeti_tx.rpc.interfaces import INodeRpc


@define
class QueryMethods:
    """Queries in the new style and the classic one, tags, and the cluster as a whole."""

    queries: Queries
    view: Views
    info: ClusterInfo
    _told: tuple[View, msgspec.Raw] | None = field(default=None, init=False)

    def table(self) -> Mapping[str, Answer]:
        """Which method is which call."""
        return {
            "Query": self.query,
            "QueryFields": self.fields,
            "QueryInstances": self._classic("instance"),
            "QueryNodes": self._classic("node"),
            "QueryGroups": self._classic("group"),
            "QueryNetworks": self._classic("network"),
            "QueryExports": self.exports,
            "QueryFilters": self.filters,
            "QueryTags": self.tags,
            "QueryConfigValues": self.config_values,
            "QueryClusterInfo": self.cluster_info,
        }

    async def query(self, what: str, names: Sequence[str], raw_filter: object) -> dict[str, Any]:
        """As Queries.query says."""
        fields, parts = self.queries.parts(what, names, raw_filter)
        return {"fields": fields, "data": [item async for part in parts for item in encode_elements(part)]}

    async def fields(self, what: str, names: Sequence[str] | None) -> dict[str, Any]:
        """As Queries.fields says."""
        return self.queries.fields(what, names)

    def _classic(self, what: str) -> Answer:
        async def answer(items: Sequence[str], names: Sequence[str], lock: bool) -> msgspec.Raw:
            return await self.queries.classic_json(what, items, names)

        return answer

    async def exports(self, nodes: Sequence[str], lock: bool) -> list[list[object]]:
        """A node and one of its exports each; null in place of the export where a node does not answer.

        @raise OpPrereqError: an unknown node.
        """
        return await self.queries.classic("export", nodes, ["node", "export"], strict=True)

    async def filters(self, uuids: Sequence[str] | None, names: Sequence[str]) -> list[list[object]]:
        """Plain rows of job filter rules."""
        return await self.queries.classic("filter", uuids or [], names)

    async def tags(self, kind: str, name: str) -> list[str]:
        """The tags of one object, in order. @raise OpPrereqError: there is none of that name."""
        view = self.view()
        find: Mapping[str, Callable[[str], Any]] = {
            "cluster": lambda _: view.cluster,
            "nodegroup": view.group_names.find,
            "node": view.node_names.find,
            "instance": view.instance_names.find,
            "network": view.network_names.find,
        }
        return sorted(find[kind](name).tags)

    async def config_values(self, names: Sequence[str]) -> list[object]:
        """As ClusterInfo.values says."""
        return self.info.values(names)

    async def cluster_info(self) -> msgspec.Raw:
        """As ClusterInfo.info says; as JSON, made once as long as the configuration stays the same."""
        view = self.view()
        if self._told is None or self._told[0] is not view:
            self._told = view, msgspec.Raw(in_ascii(msgspec.json.encode(self.info.info(view.config))))
        return self._told[1]


def make_query_methods(
    snapshot: Callable[[], ConfigData],
    rpc: INodeRpc,
    locks: Locks,
    jobs: Jobs,
    info: ClusterInfo,
    clock: IReactorTime,
    slices: Slices | None = None,
) -> QueryMethods:
    """The methods over a configuration, its nodes, a lock table and a queue; all share one view."""
    view = Views(snapshot)
    return QueryMethods(make_queries(view, PromptRpc(SharedRpc(rpc), clock), locks, jobs, slices), view, info)
