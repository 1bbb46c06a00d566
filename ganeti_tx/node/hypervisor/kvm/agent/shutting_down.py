"""The agent is asked to shut its guest down."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from attrs import frozen

from ganeti_tx.node.hypervisor.kvm.agent.talk import AgentRefusal, AgentSilent, GuestAgents

#: Seconds in which a shutdown is refused, if it is.
REFUSAL_LIMIT = 0.5

#: Given the agent's socket, ask it to power its guest off; whether there is one that does it.
ShutDownByAgent = Callable[[Path], Awaitable[bool]]


@frozen
class AgentShutdown:
    """Through the sockets of the node."""

    agents: GuestAgents

    async def __call__(self, path: Path) -> bool:
        """See `ShutDownByAgent`."""
        try:
            async with self.agents.talk(path) as talk:
                try:
                    await talk.ask("guest-shutdown", REFUSAL_LIMIT, mode="powerdown")
                except AgentSilent:
                    pass  # an agent that obeys says nothing
                return True
        except (AgentSilent, AgentRefusal):
            return False
