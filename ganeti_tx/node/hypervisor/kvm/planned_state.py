"""What is remembered of an instance that is about to be started."""

from ganeti_tx.node.hypervisor.kvm.command.build import planned_machine
from ganeti_tx.node.hypervisor.kvm.command.disks import disk_id
from ganeti_tx.node.hypervisor.kvm.command.plan import QemuPlan
from ganeti_tx.node.hypervisor.kvm.network import is_late
from ganeti_tx.node.hypervisor.kvm.state import DiskState, InstanceRuntime


def planned_state(plan: QemuPlan) -> InstanceRuntime:
    """What is remembered of an instance from just before its start."""
    uid = plan.run_as.partition(":")[0]
    machine = planned_machine(plan)
    return InstanceRuntime(
        name=plan.spec.name,
        uuid=plan.spec.uuid,
        memory=plan.memory,
        vcpus=plan.vcpus,
        acceleration=plan.acceleration.value,
        argv=machine.argv,
        exits_on_reboot=plan.params.reboot_behavior == "exit",
        uid=int(uid) if plan.params.security_model == "pool" else None,
        nics=list(plan.nics),
        disks=[DiskState(uuid=disk.spec.uuid, device=disk_id(disk.spec.uuid), source=disk.path) for disk in plan.disks],
        dimms=list(plan.dimms),
        params=plan.params,
        places=machine.places,
        stopped=plan.stopped,
        waits=plan.incoming,
        unreached=plan.incoming and any(map(is_late, plan.nics)),
    )
