"""A node with the KVM driver, whose instances never get further than their firmware, which also ignores the power button."""

import os
from collections.abc import Sequence
from typing import Any

from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.kvm.hypervisor import KvmHypervisor
from ganeti_tx.test.contracts.hypervisor_case import HypervisorCase
from ganeti_tx.test.contracts.live_changes import DISKS
from ganeti_tx.test.real.kvm_node import KvmNode

MiB = 1 << 20


class KvmCase(HypervisorCase):
    """A real QEMU."""

    timeout = 300
    node: KvmNode
    driver: KvmHypervisor

    async def prepare(self) -> None:
        """See `HypervisorCase`."""
        self.node = KvmNode()
        self.addCleanup(self.node.clear)

    def new_driver(self) -> KvmHypervisor:
        """See `HypervisorCase`."""
        return self.node.driver()

    def cdrom(self) -> dict[str, Any]:
        """See `HypervisorContract`."""
        return self.node.cdrom()

    def remains(self) -> list[str]:
        """See `HypervisorCase`."""
        return self.node.remains()

    def spec(self, name: str = "", **hvparams: Any) -> InstanceSpec:
        """See `HypervisorCase`; the node is not asked whether KVM works."""
        return super().spec(name, **{"kvm_flag": "disabled", **hvparams})

    def a_disk(self, number: int) -> AttachedDisk:
        """A disk that is ready; each is of another size."""
        path = self.node.top / f"disk{number}"
        if not path.exists():
            path.write_bytes(b"")
        with path.open("r+b") as file:
            file.truncate((number + 3) * MiB)
        spec = DiskSpec(
            uuid=DISKS[number], dev_type="file", size=number + 3, logical_id=["loop", str(path)], index=number
        )
        return AttachedDisk(spec, str(path))

    async def fails(self, *said: str, disks: Sequence[AttachedDisk] = (), **hvparams: Any) -> None:
        """A start fails with one line that names the instance and says all this, and leaves nothing."""
        text = await self.refused(self.driver.start(self.spec(**hvparams), disks))
        for each in (self.name, *said):
            self.assertIn(each, text)
        self.assertEqual(self.remains(), [])
        self.assertIsNone(await self.driver.info(self.name))

    async def pid(self) -> int:
        """The process of the running instance."""
        info = await self.driver.info(self.name)
        assert info is not None
        return info.hv_id

    def write_uid_pool(self) -> None:
        """Many ids, as no two instances of this whole system get the same."""
        if os.getuid() != 0:
            self.skipTest("only root may become another user")
        self.node.paths.ssconf_file("uid_pool").parent.mkdir(parents=True)
        self.node.paths.ssconf_file("uid_pool").write_text("61000-61999\n")
