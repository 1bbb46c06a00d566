"""From a plan to a QEMU that stands still in the background, and from there to a guest that runs."""

from contextlib import suppress

import msgspec
from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm import state as states
from ganeti_tx.node.hypervisor.kvm.command.plan import QemuPlan
from ganeti_tx.node.hypervisor.kvm.control_group import ControlGroup
from ganeti_tx.node.hypervisor.kvm.firmware import Firmware
from ganeti_tx.node.hypervisor.kvm.hotplug.growth import add_vcpus
from ganeti_tx.node.hypervisor.kvm.hotplug.nics import tap_options
from ganeti_tx.node.hypervisor.kvm.machine_type import machine_type
from ganeti_tx.node.hypervisor.kvm.network import Network
from ganeti_tx.node.hypervisor.kvm.nic_files import name_taps
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.pinning import pin_instance
from ganeti_tx.node.hypervisor.kvm.qemu_log import said
from ganeti_tx.node.hypervisor.kvm.running import RunningInstance
from ganeti_tx.node.hypervisor.kvm.secrets import set_passwords
from ganeti_tx.node.hypervisor.kvm.state import InstanceRuntime
from ganeti_tx.node.hypervisor.kvm.tpm import SoftwareTpm
from ganeti_tx.node.hypervisor.kvm.tpm_user import tpm_user
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.process import IProcessRunner

#: Seconds until QEMU is in the background, on a node that has much else to do.
START_LIMIT = 180.0
DIRECTORY_MODE = 0o750
#: What QEMU says of a URL, or another address, that one of its modules reads which is not there.
NO_BLOCK_DRIVER = "Unknown protocol"


@frozen
class Launching:
    """What QEMU needs comes before it; whoever is told that it failed clears away what is there."""

    files: IFiles
    runner: IProcessRunner
    machines: OwnMachines
    network: Network
    firmware: Firmware
    tpm: SoftwareTpm
    group: ControlGroup

    async def launch(self, plan: QemuPlan, state: InstanceRuntime) -> None:
        """@raise HypervisorError: QEMU did not start, and what it says."""
        for directory in plan.files.directories:
            self.files.mkdir(directory, DIRECTORY_MODE)
        if plan.params.use_chroot:
            self.files.mkdir(plan.files.chroot, 0o700)
        await states.save(self.files, plan.files, state)
        options = tap_options(plan.params, plan.run_as.partition(":")[0])
        await self.network.connect(plan.nics, options, incoming=plan.incoming)
        await name_taps(self.files, plan.files, plan.nics)
        user = tpm_user(plan.run_as)
        await self.firmware.prepare(plan, user)
        if plan.params.tpm:
            await self.tpm.start(plan.files, plan.spec.uuid, user)
        await self._run(plan, state)
        if (pid := self.machines.pid(plan.files)) is not None:
            self.group.enter(plan, pid)

    async def _run(self, plan: QemuPlan, state: InstanceRuntime) -> None:
        with suppress(FileNotFoundError):
            # QEMU begins it anew, unless it ends before: what is there then is its reason.
            self.files.remove(plan.files.log)
        result = await self.runner.run(self.group.command(plan, state.argv), timeout=START_LIMIT)
        if not result.succeeded:
            # On its way to the background QEMU turns from stderr to its log.
            lines = said(self.files, plan.files)
            reason = f"{result.describe()}: {lines[-1][:500]}" if lines else result.describe()
            hint = "; install qemu-block-extra" if NO_BLOCK_DRIVER in reason else ""
            raise HypervisorError(f"QEMU did not start: {reason}{hint}")

    async def make_ready(self, plan: QemuPlan, state: InstanceRuntime, paused: bool) -> None:
        """What QEMU is told over QMP before its guest may run; then it does, unless it is to be paused."""
        async with self.machines.monitor(plan.files) as client:
            known = msgspec.structs.replace(
                state, machine=await machine_type(client), pid=self.machines.pid(plan.files)
            )
            await states.save(self.files, plan.files, known)
            if plan.plugged_vcpus:
                await add_vcpus(RunningInstance(self.files, plan.files, known, client), plan.vcpus)
            await set_passwords(self.files, plan.params, client)
            await pin_instance(self.machines, plan.files, client, plan.params.cpu_mask, plan.vcpus)
            if not paused:
                await client.execute("cont")
