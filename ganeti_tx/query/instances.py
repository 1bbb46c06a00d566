"""Instances as a resource of queries."""

from collections.abc import Callable, Mapping, Sequence

from attrs import frozen

from ganeti_tx.model.instance import Instance
from ganeti_tx.query.collect import ALL_AT_ONCE
from ganeti_tx.query.fields_instance import INSTANCE_FIELDS
from ganeti_tx.query.instance_context import USER_SHUTDOWN, InstanceContext, Seen
from ganeti_tx.query.language.field import Field, Need
from ganeti_tx.query.live import consoles, running_instances
from ganeti_tx.query.view import View, chosen
from ganeti_tx.rpc.interfaces import INodeRpc


@frozen
class InstanceRows:
    """Rows are instances of the configuration."""

    view: Callable[[], View]
    rpc: INodeRpc
    name_field: str = "name"
    fields: Mapping[str, Field] = INSTANCE_FIELDS
    at_a_time: int = ALL_AT_ONCE

    async def rows(
        self, names: Sequence[object] | None, wanted: frozenset[str], strict: bool
    ) -> tuple[Sequence[Instance], InstanceContext]:
        """As Resource.rows says."""
        view = self.view()
        return chosen(view.instances, view.instance_names, names, strict), InstanceContext(view)

    async def collect(
        self, rows: Sequence[Instance], context: InstanceContext, needs: frozenset[Need]
    ) -> InstanceContext:
        """Asks the nodes on which the instances should run, or after a failed move might run."""
        view = context.view
        nodes = view.homes if rows is view.instances else view.homes_of(rows)
        kinds = {row.hypervisor for row in rows if not row.forthcoming}  # nodes need not have the others yet
        context = InstanceContext(view, await running_instances(self.rpc, nodes, [kind.value for kind in kinds]))
        if Need.CONSOLES in needs:
            with_console = [row for row, seen in zip(rows, context.seen_each(rows), strict=True) if runs(seen)]
            context = InstanceContext(view, context.running, await consoles(self.rpc, view, with_console))
        return context


def runs(seen: Seen) -> bool:
    """Whether its primary node runs it."""
    return not isinstance(seen, tuple) and seen.state != USER_SHUTDOWN
