"""What a step is given that several units share."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.interfaces import INodeRpc


class Parts(Protocol):
    """The part of a logical unit that does not depend on what was asked for: such a step cannot know its opcode."""

    @property
    def config(self) -> IConfig:
        """The configuration, for the job."""

    @property
    def nodes(self) -> INodeRpc:
        """Calls of nodes."""

    def step(self, title: str, *undos: Undo) -> AbstractAsyncContextManager[None]:
        """The step of the plan with this title."""

    def info(self, message: str) -> None:
        """A line for the operator."""

    def warn(self, message: str) -> None:
        """A warning for the operator."""

    async def pause(self, seconds: float) -> None:
        """Wait; a job that is to stop waits no longer."""
