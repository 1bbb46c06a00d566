"""Instances that are only pretended: for clusters without a real hypervisor, and for tests."""

from ganeti_tx.model.base import Wire
from ganeti_tx.model.disk_template import QCOW2, RAW
from ganeti_tx.model.hypervisor import MIGRATION_MODES, ConsoleKind, HypervisorKind


class FakeParams(Wire, frozen=True, kw_only=True, omit_defaults=False):
    """What an instance that is only pretended can be told."""

    migration_mode: str = "live"


HYPERVISOR = HypervisorKind(
    params=FakeParams,
    choices={"migration_mode": MIGRATION_MODES},
    cluster_only=frozenset({"migration_mode"}),
    consoles=frozenset({ConsoleKind.MESSAGE}),
    pauses=True,
    hotplug=True,
    copies_disks=True,
    from_first_disk={},
    confines=True,
    formats=frozenset({RAW, QCOW2}),
    driver="fake",
)
