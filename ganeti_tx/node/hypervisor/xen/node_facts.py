"""What a node under Xen has: memory and processors, as Xen tells and not the kernel, which sees its own domain's only."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.xen.listed import Domain
from ganeti_tx.node.hypervisor.xen.own import sum_of_memory
from ganeti_tx.node.hypervisor.xen.toolstack import Xl


@frozen
class XenFacts:
    """Asked of xl each time."""

    xl: Xl

    async def info(self) -> Mapping[str, Any]:
        """See `IHypervisor.node_info`."""
        return hv_info(await self.xl.info(), await self.xl.domains())

    async def verify(self) -> list[str]:
        """See `IHypervisor`."""
        try:
            await self.info()
        except HypervisorError as error:
            return [str(error)]
        return []


def number(info: Mapping[str, str], name: str) -> int:
    """A line of `xl info`. @raise HypervisorError: it is not there."""
    try:
        return int(info[name])
    except (KeyError, ValueError):
        raise HypervisorError(f"xl info tells no number {name}: {info.get(name, '')[:100]!r}") from None


def hv_info(info: Mapping[str, str], domains: Sequence[Domain]) -> Mapping[str, Any]:
    """The keys of the node call table's `hv_info_keys`. @raise HypervisorError: xl does not tell all."""
    total, free = number(info, "total_memory"), number(info, "free_memory")
    processors = number(info, "nr_cpus")
    per_socket = max(1, number(info, "cores_per_socket") * number(info, "threads_per_core"))
    first = next((domain for domain in domains if domain.id == 0), None)
    return {
        "memory_total": total,
        "memory_free": free,
        "memory_dom0": first.memory if first is not None else 0,
        "memory_hv": max(0, total - free - sum_of_memory(domains)),
        "cpu_total": processors,
        "cpu_nodes": number(info, "nr_nodes"),
        "cpu_sockets": max(1, processors // per_socket),
        "cpu_dom0": first.vcpus if first is not None else 0,
        "hv_version": info.get("xen_version", ""),
    }
