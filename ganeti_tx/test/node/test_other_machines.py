"""Node calls about an instance whose name another one's machine has: none reaches that machine."""

from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.dispatch import NodeDispatch
from ganeti_tx.node.hypervisor.fake.driver import FakeHypervisor
from ganeti_tx.node.instances import Instances
from ganeti_tx.node.migrations import Migrations
from ganeti_tx.node.other_machines import BESIDE, OtherMachines
from ganeti_tx.rpc.calls.instance import (
    AllInstancesInfo,
    HypervisorValidateParams,
    InstanceConsoles,
    InstanceForget,
    InstanceInfo,
    InstanceReboot,
    InstanceShutdown,
    InstanceStart,
    RunningInstance,
)
from ganeti_tx.rpc.calls.migration import InstanceFinalizeMigrationSrc, InstanceMigrationSide
from ganeti_tx.rpc.table import CALLS
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.logic.stage import INSTANCE
from ganeti_tx.test.node.disk_case import OWNER, DiskCase
from ganeti_tx.test.node.hypervisor.kvm.parts import kvm_spec


class TwoHypervisorsTests(DiskCase):
    """A node on which two hypervisors have a machine of one name, and one of them another one, too."""

    def setUp(self) -> None:
        super().setUp()
        files = self.files[0]
        self.first = FakeHypervisor(files, self.paths, self.clock.seconds)
        self.second = FakeHypervisor(files, Paths(Path("/second")), self.clock.seconds, "lxc")
        hypervisors: Any = {"fake": self.first, "lxc": self.second}
        self.instances = Instances(hypervisors, self.disks[0], "node1")
        self.new = replace(kvm_spec(name=OWNER), hypervisor="fake", hvparams={})
        self.old = replace(self.new, hypervisor="lxc", uuid="11111111-1111-4111-8111-111111111111")
        self.done(self.second.start(self.old, []))
        self.done(self.first.start(replace(self.new, name="db1.example.com"), []))

    def done(self, work: Any) -> Any:
        """What came of it."""
        return self.successResultOf(Deferred.fromCoroutine(work))

    def info(self) -> RunningInstance | None:
        """What is there of the name of an instance that runs under the first one."""
        return self.done(self.instances.info(InstanceInfo(instance_name=OWNER, hypervisor="fake")))

    def test_listed(self) -> None:
        """All are told of: that both have the name keeps nobody from knowing of the others."""
        self.done(self.first.start(self.new, []))
        for names in (["fake", "lxc"], ["lxc", "fake"]):
            found = self.done(self.instances.all_info(AllInstancesInfo(hypervisors=names)))
            self.assertEqual(sorted(found), sorted(["db1.example.com", OWNER]))
            self.assertEqual([each.hypervisor for each in found[OWNER].machines()], names)
            self.assertEqual(found["db1.example.com"].others, ())
            for spec in (self.new, self.old):
                kind: Any = Hypervisor(spec.hypervisor)
                seen = found[OWNER].own(msgspec.structs.replace(INSTANCE, uuid=spec.uuid, hypervisor=kind))
                self.assertEqual((seen.uuid, seen.hypervisor), (spec.uuid, spec.hypervisor))

    def test_asked(self) -> None:
        """Who asks for what has a name hears of what the other hypervisor has, be there one under its own or not."""
        seen = self.info()
        assert seen is not None
        self.assertEqual((seen.uuid, seen.hypervisor, seen.others), (self.old.uuid, "lxc", ()))
        self.assertIn("/second", seen.ended_by)
        self.done(self.first.start(self.new, []))
        seen = self.info()
        assert seen is not None
        self.assertEqual([each.hypervisor for each in seen.machines()], ["fake", "lxc"])

    def test_silent(self) -> None:
        """The other hypervisor may not tell what it has."""
        put(self.files[0], self.second.paths.fake_run_dir / OWNER, b"{")
        self.assertIsNone(self.info())
        self.done(self.first.start(self.new, []))
        seen = self.info()
        assert seen is not None
        self.assertEqual((seen.hypervisor, seen.others), ("fake", ()))

    def test_unknown(self) -> None:
        """One of which nobody remembers for whom it was started is no instance's that has another hypervisor."""
        self.done(self.second.stop(OWNER, 0.0))
        self.done(self.second.start(replace(self.old, uuid=""), []))
        seen = self.info()
        assert seen is not None
        self.assertIsNone(seen.own(msgspec.structs.replace(INSTANCE, hypervisor=Hypervisor.FAKE)))
        self.assertIsNotNone(seen.own(msgspec.structs.replace(INSTANCE, hypervisor=Hypervisor.LXC)))


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
