"""Node calls about an instance whose name another one's machine has: none reaches that machine."""

from typing import Any

import msgspec
from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.dispatch import NodeDispatch
from ganeti_tx.node.hypervisor.fake.driver import FakeHypervisor
from ganeti_tx.node.instances import Instances
from ganeti_tx.node.migrations import Migrations
from ganeti_tx.node.other_machines import BESIDE, OtherMachines
from ganeti_tx.rpc.calls.instance import (
    HypervisorValidateParams,
    InstanceConsoles,
    InstanceForget,
    InstanceReboot,
    InstanceShutdown,
    InstanceStart,
)
from ganeti_tx.rpc.calls.migration import InstanceFinalizeMigrationSrc, InstanceMigrationSide
from ganeti_tx.rpc.table import CALLS
from ganeti_tx.test.node.disk_case import OWNER, DiskCase
from ganeti_tx.test.node.hypervisor.kvm.parts import kvm_spec


class OtherMachinesTests(DiskCase):
    """A node on which the machine of a former instance runs, and calls about the new one."""

    def setUp(self) -> None:
        super().setUp()
        self.fake = FakeHypervisor(self.files[0], self.paths, self.clock.seconds)
        hypervisors: Any = {"fake": self.fake}
        instances = Instances(hypervisors, self.disks[0], "node1")
        keys: Any = None
        self.others = OtherMachines(hypervisors, "node1")
        migrations = Migrations(instances, keys)
        self.nodes[0] = NodeDispatch(self.disks[0], instances, migrations, check=self.others.refuse)
        self.new: InstanceSpec = replace(kvm_spec(name=OWNER), hypervisor="fake", hvparams={})
        self.old = replace(self.new, uuid="11111111-1111-4111-8111-111111111111")
        self.call(0, InstanceStart(instance=self.old))

    def test_refused(self) -> None:
        """What is about the machine says whose it is, and what ends it; the machine's own instance is not refused."""
        for spec in (self.new, self.old):
            calls = (
                InstanceStart(instance=spec),
                InstanceReboot(instance=spec, reboot_type="hard", shutdown_timeout=0.0),
                InstanceFinalizeMigrationSrc(instance=spec, success=False, live=True),
            )
            for call in calls:
                if spec is self.old:
                    self.call(0, call)
                else:
                    self.assertRegex(
                        self.refused(0, call, HypervisorError),
                        f"another instance .*{self.old.uuid}.*; 'rm .*{OWNER}' .* ends it",
                    )

    def test_every_call(self) -> None:
        """Of all calls that have an instance only those are done that are declared to reach no machine."""
        kinds = [kind for kind in CALLS.values() if "instance" in kind.__struct_fields__]
        self.assertGreater(len(kinds), len(BESIDE))
        for kind in kinds:
            required: dict[str, Any] = {each.name: None for each in msgspec.structs.fields(kind) if each.required}
            work = Deferred.fromCoroutine(self.others.refuse(kind(**{**required, "instance": self.new})))
            if issubclass(kind, BESIDE):
                self.successResultOf(work)
            else:
                self.failureResultOf(work, HypervisorError)

    def test_left_alone(self) -> None:
        """A stop of the new one stops nothing, and says so; there is nothing of it here, and no console of it."""
        named: dict[str, Any] = {"instance_name": OWNER, "hypervisor": "fake"}
        stop = InstanceShutdown(**named, shutdown_timeout=0.0, force=True, instance_uuid=self.new.uuid)
        self.assertIn(self.old.uuid, str(self.call(0, stop)))
        self.assertIsNone(self.call(0, InstanceMigrationSide(**named, instance_uuid=self.new.uuid)))
        self.assertIsNotNone(self.call(0, InstanceMigrationSide(**named, instance_uuid=self.old.uuid)))
        self.assertEqual(self.call(0, InstanceConsoles(instances=[self.new])), {})
        self.assertEqual([*self.call(0, InstanceConsoles(instances=[self.old]))], [OWNER])
        self.call(0, InstanceForget(instance=self.new))
        self.assertIn("runs on node", self.refused(0, InstanceForget(instance=self.old), HypervisorError))
        self.call(0, HypervisorValidateParams.of(self.new))
        self.call(0, replace(stop, instance_uuid=self.old.uuid))
        self.call(0, InstanceStart(instance=self.new))
