"""Who is told when instances come to a node and leave it."""

from collections.abc import Mapping
from typing import Protocol

from ganeti_tx.model.instance_spec import InstanceSpec


class ToldOfInstances(Protocol):
    """Nothing that goes wrong there holds an instance up."""

    async def prepare(self, spec: InstanceSpec) -> None:
        """It is about to start."""

    async def tell(self, spec: InstanceSpec, variables: Mapping[str, str] = {}) -> str | None:
        """It runs here. @param variables: that OS scripts are told besides. Gives what went wrong, for people to know."""

    async def forget(self, name: str) -> None:
        """It does not run here any more."""


class Nobody:
    """`ToldOfInstances` where nobody wants to know."""

    async def prepare(self, spec: InstanceSpec) -> None:
        """See ToldOfInstances."""

    async def tell(self, spec: InstanceSpec, variables: Mapping[str, str] = {}) -> str | None:
        """See ToldOfInstances."""
        return None

    async def forget(self, name: str) -> None:
        """See ToldOfInstances."""
