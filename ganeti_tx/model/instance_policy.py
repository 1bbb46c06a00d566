"""What the policy of its group says of an instance that there is."""

from ganeti_tx.model.exclusive_storage import is_exclusive, spindles_of
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.params.backend import instance_beparams
from ganeti_tx.model.params.ipolicy import InstanceSpecs, fill, violations


def specs_of(view: InstanceView, group: NodeGroup | None = None) -> InstanceSpecs:
    """The sizes that a policy judges, in its group or another one: where storage is exclusive spindles are real ones."""
    exclusive = view.disks and is_exclusive(view.cluster, group or view.group)
    beparams = instance_beparams(view.cluster, view.instance)
    return InstanceSpecs(
        memory_size=beparams.maxmem,
        cpu_count=beparams.vcpus,
        disk_sizes=tuple(disk.size for disk in view.disks),
        nic_count=len(view.instance.nics),
        spindle_use=spindles_of(disk.spindles for disk in view.disks) if exclusive else beparams.spindle_use,
        disk_templates=tuple(sorted({disk.dev_type for disk in view.disks})) or (view.disk_template,),
    )


def policy_violations(view: InstanceView, group: NodeGroup | None = None) -> list[str]:
    """Why the instance does not fit the policy of its group, or of another state of a group; a line a reason."""
    own = (group or view.group).ipolicy
    return violations(fill(view.cluster.ipolicy, own), specs_of(view, group))
