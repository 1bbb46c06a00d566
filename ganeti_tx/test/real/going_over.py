"""A machine of KVM that goes from one node to another one."""

from collections.abc import Sequence

import msgspec

from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.migration import MigrationState
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk, InstanceInfo
from ganeti_tx.node.hypervisor.kvm.hypervisor import KvmHypervisor
from ganeti_tx.test.real.test_kvm_migration import HERE, free_port

#: Seconds until it is there.
LIMIT = 200.0


async def goes_over(
    spec: InstanceSpec, disks: Sequence[AttachedDisk], here: KvmHypervisor, there: KvmHypervisor
) -> InstanceInfo:
    """From here to there, where nothing else uses its disks; what it is there. The guest stands still meanwhile."""
    limits = {"migration_port": free_port(), "migration_bandwidth": 1024}
    spec = msgspec.structs.replace(spec, hvparams={**spec.hvparams, **limits})
    await there.accept(spec, disks, await here.migration_info(spec), HERE)
    await here.send(spec, HERE, False)
    progress = await here.migration_progress(spec.name, LIMIT)
    assert progress.status is MigrationState.COMPLETED, progress
    await there.take_over(spec.name)
    await here.leave_source(spec.name)
    info = await there.info(spec.name)
    assert info is not None
    return info
