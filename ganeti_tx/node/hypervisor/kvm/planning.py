"""From an instance to the plan of its QEMU on this node, or to why it cannot run here; nothing is changed."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.kvm.acceleration import AccelerationProbe
from ganeti_tx.node.hypervisor.kvm.command.build import qemu_argv
from ganeti_tx.node.hypervisor.kvm.command.plan import QemuPlan
from ganeti_tx.node.hypervisor.kvm.control_group import ControlGroup
from ganeti_tx.node.hypervisor.kvm.known_types import KnownTypes
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout
from ganeti_tx.node.hypervisor.kvm.network import Network
from ganeti_tx.node.hypervisor.kvm.node_lacks import NodeLacks
from ganeti_tx.node.hypervisor.kvm.on_this_node import OnThisNode
from ganeti_tx.node.hypervisor.kvm.parameters import faults, kvm_params, spice_faults
from ganeti_tx.node.hypervisor.kvm.pinning import masks_of
from ganeti_tx.node.hypervisor.kvm.version import QemuVersion
from ganeti_tx.node.hypervisor.parameters import refuse_any
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths


@frozen
class Planning:
    """Asks all that has a say."""

    paths: Paths
    files: IFiles
    here: OnThisNode
    version: QemuVersion
    types: KnownTypes
    lacks: NodeLacks
    probe: AccelerationProbe
    network: Network
    group: ControlGroup

    async def plan(self, spec: InstanceSpec, disks: Sequence[AttachedDisk], layout: InstanceLayout) -> QemuPlan:
        """@raise HypervisorError: this node cannot run it, and why."""
        params = await self.here.settled(kvm_params(spec.hvparams))
        self._check(await self.lacks.faults(params), params)
        acceleration = await self.probe.choose(params.kvm_path, params.kvm_flag)
        nics = await self.network.plan(spec)
        plan = QemuPlan(spec, params, disks, nics, layout, acceleration)
        self.group.check(plan)
        masks_of(params.cpu_mask, plan.vcpus)
        qemu_argv(plan)  # what cannot be written down fails here, before a user id is taken
        return plan

    async def check(self, spec: InstanceSpec, disks: Sequence[AttachedDisk], layout: InstanceLayout) -> None:
        """@raise HypervisorError: a start here would fail, as far as that is seen before, whether it runs or not."""
        await self.validate(spec.hvparams)
        await self.plan(spec, disks, layout)

    async def validate(self, hvparams: Mapping[str, Any]) -> None:
        """See `IHypervisor`."""
        params = kvm_params(hvparams)
        asked = (self.version.faults, self.types.faults, self.lacks.faults, self.here.faults)
        self._check([fault for faults in asked for fault in await faults(params)], params)

    def _check(self, asked: Sequence[str], params: KvmParams) -> None:
        """@raise HypervisorError: all that is wrong with parameters on this node, with what was asked of it before."""
        exists = self.files.exists
        refuse_any([*faults(params, exists), *spice_faults(params, self.paths, exists), *asked])
