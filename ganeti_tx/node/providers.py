"""Node calls about external storage."""

from attrs import frozen

from ganeti_tx.node.answers import answers
from ganeti_tx.node.storage.ext.provider import Found, Providers
from ganeti_tx.rpc.calls.ext_storage import ExtstorageDiagnose, ProviderReport
from ganeti_tx.runtime.threads import IThreads


@frozen
class ProviderCalls:
    """The providers of this node."""

    providers: Providers
    threads: IThreads

    @answers(ExtstorageDiagnose)
    async def diagnose(self, call: ExtstorageDiagnose) -> list[ProviderReport]:
        """What is there, good or bad."""
        return await self.threads.run(lambda: [report(found) for found in self.providers.all()])


def report(found: Found) -> ProviderReport:
    """What is told of one."""
    good = found.provider
    parameters, identity = (list(good.parameters), list(good.identity)) if good is not None else ([], [])
    return ProviderReport(found.name, str(found.path), good is not None, found.fault, parameters, identity)
