"""Pools of Ceph."""

from collections.abc import Mapping
from typing import Any

from attrs import frozen
from zope.interface import implementer

from ganeti_tx.node.storage.interfaces import IPools, PoolSpace
from ganeti_tx.node.storage.rbd.tools import RbdTools


@implementer(IPools)
@frozen
class RadosPools:
    """A pool's name is Ceph's."""

    tools: RbdTools

    async def space(self, name: str, params: Mapping[str, Any]) -> PoolSpace:
        """See `IPools`: what Ceph says that the pool may still take, which depends on its copies."""
        return await self.tools.space(name)

    async def fault(self, name: str) -> str | None:
        """See `IPools`: there is no such pool, no program to reach it, or the cluster does not answer."""
        return await self.tools.fault(name)
