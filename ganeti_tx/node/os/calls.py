"""Node calls about OS definitions."""

from attrs import frozen

from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.answers import answers
from ganeti_tx.node.disks import Disks
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.os.scripts import OsScripts
from ganeti_tx.rpc.calls.instance import InstanceOsAdd, InstanceRunRename
from ganeti_tx.rpc.calls.os import OsDiagnose, OsReport, OsValidate
from ganeti_tx.runtime.threads import IThreads


@frozen
class OsCalls:
    """The OS definitions of this node."""

    scripts: OsScripts
    disks: Disks
    threads: IThreads

    @answers(OsDiagnose)
    async def diagnose(self, call: OsDiagnose) -> list[OsReport]:
        """What is there, good or bad."""
        return await self.threads.run(self.scripts.catalogue.diagnose)

    @answers(OsValidate)
    async def validate(self, call: OsValidate) -> bool:
        """Would it do?"""
        return await self.scripts.validate(call)

    @answers(InstanceOsAdd)
    async def add(self, call: InstanceOsAdd) -> None:
        """Install it on the instance's disks, which are made ready first."""
        disks, prefix = await self._seen(call.instance)
        await self.scripts.run_create(call.instance, disks, call.reinstall, call.debug, prefix)

    @answers(InstanceRunRename)
    async def rename(self, call: InstanceRunRename) -> None:
        """Tell what is on the instance's disks, which are made ready first, its new name."""
        disks, prefix = await self._seen(call.instance)
        await self.scripts.run_rename(call.instance, disks, call.old_name, call.debug, prefix)

    async def _seen(self, instance: InstanceSpec) -> tuple[list[AttachedDisk], list[str]]:
        """All disks as a script sees them, and what stands before its command."""
        seen = [self.disks.view(disk, writable=True) for disk in await self.disks.attach(instance)]
        return [disk for disk, _ in seen], [word for _, prefix in seen for word in prefix]
