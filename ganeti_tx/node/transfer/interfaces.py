"""The seam between the node daemon and the two ends of transfers."""

from zope.interface import Interface

from ganeti_tx.node.transfer.spec import Spec, Status


class ITransferEnds(Interface):
    """Transfers of which one end is on this node, by names that the master gives. They live on when the daemon ends."""

    async def start(name: str, spec: Spec) -> None:
        """Begin. @raise OpExecError: one of that name has been begun before, or it cannot be."""

    async def status(name: str) -> Status | None:
        """How far it is; None as long as it has not said anything, or when there is none of that name.

        One whose process has died without a word has ended with an error.
        """

    async def stop(name: str) -> None:
        """End it; one that has ended, or never was, is no error."""

    async def release(name: str) -> None:
        """Let one that holds its farewell say it; none of that name is no error."""

    async def remove(name: str) -> None:
        """End it, and forget all about it."""
