"""What the node from which a machine comes may say of it."""

from pathlib import Path
from typing import Any

import msgspec
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.kvm import HYPERVISOR, KvmParams
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.kvm.sent_machine import machine_of, picked
from ganeti_tx.node.hypervisor.kvm.taken_over import WHO_SAYS, Says, taking_over
from ganeti_tx.test.node.hypervisor.kvm.command.everything import with_spice, with_vnc
from ganeti_tx.test.node.hypervisor.kvm.parts import kvm_spec


def told(spec: InstanceSpec, params: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """What the old node tells of a machine that was started as configured, but for some parameters."""
    info: dict[str, Any] = {
        "version": [7, 2, 0],
        "machine": "pc-i440fx-7.2",
        "acceleration": "tcg",
        "memory": 128,
        "vcpus": 2,
        "disks": [],
        "nics": [],
        "params": {**spec.hvparams, **params},
        "places": {},
        "cpu_flags": [],
        "capabilities": [],
    }
    return {**info, **changes}


class TakenOverTests(SynchronousTestCase):
    """An instance as it is configured, and other words of the old node."""

    def taken(self, configured: dict[str, Any], running: dict[str, Any], **changes: Any) -> dict[str, Any]:
        """The parameters on the new node."""
        spec = kvm_spec(**configured)
        return dict(taking_over(spec, machine_of(told(spec, running, **changes))).hvparams)

    def refused(self, configured: dict[str, Any], running: dict[str, Any], **changes: Any) -> str:
        """Why it is not taken in."""
        return str(self.assertRaises(HypervisorError, self.taken, configured, running, **changes))

    def test_complete(self) -> None:
        """Of each parameter it is decided who says it."""
        self.assertEqual(set(WHO_SAYS), {field.name for field in msgspec.structs.fields(KvmParams)})

    def test_each(self) -> None:
        """Each other value is taken, is not, or has it refused, as the table has it."""
        for name, value in {**with_spice(Path("/f")), **with_vnc(Path("/f"))}.items():
            says, before = WHO_SAYS[name], kvm_spec().hvparams.get(name)
            if says is Says.BOTH or (says is Says.CONFIGURED_IF_BOTH and not before):
                said = self.refused({}, {name: value})
                self.assertIn(f"{name} is ", said)
                self.assertIn("restart it", said)
            else:
                taken = self.taken({}, {name: value}).get(name)
                if name != "machine_version":
                    self.assertEqual(taken, value if says is Says.MACHINE else before, name)

    def test_reaching(self) -> None:
        """What the machine is by, the instance does not reach into its node by; behind a comma of its type may be anything."""
        by = {says: {name for name, each in WHO_SAYS.items() if each is says} for says in Says}
        self.assertEqual(by[Says.MACHINE] & set(HYPERVISOR.reaching), {"machine_version"})
        shared = by[Says.BOTH] | by[Says.CONFIGURED_IF_BOTH]
        self.assertEqual(shared - set(HYPERVISOR.reaching), {"secure_boot", "tpm", "uefi"})

    def test_of_the_node(self) -> None:
        """How it is confined here, and where displays listen, is as configured; one who displays nothing is another machine."""
        safe = {"security_model": "pool", "use_chroot": True, "vnc_bind_address": "127.0.0.1"}
        taken = self.taken(safe, {"security_model": "none", "use_chroot": False, "vnc_bind_address": "192.0.2.1"})
        self.assertEqual({name: taken[name] for name in safe}, safe)
        self.assertIn("vnc_bind_address", self.refused(safe, {"vnc_bind_address": ""}))

    def test_not_set(self) -> None:
        """What nobody has set is as it is by itself."""
        self.taken({}, {"uefi": False})
        self.taken({"tpm": False}, {})

    def test_machine(self) -> None:
        """Its type is as it runs; it has no more memory and processors than configured."""
        self.assertEqual(self.taken({}, {})["machine_version"], "pc-i440fx-7.2")
        self.taken({}, {}, memory=64, vcpus=1)
        self.assertIn("maxmem is 128, and it runs with 1000000", self.refused({}, {}, memory=10**6))
        self.assertIn("vcpus is 2, and it runs with 3", self.refused({}, {}, vcpus=3))

    def test_modules(self) -> None:
        """Memory modules are a part of the memory."""
        self.taken({}, {}, dimms=[32, 32])
        self.assertIn("memory modules", self.refused({}, {}, dimms=[128]))
        for wrong in ([-(10**6)], [0], [1] * 17):
            self.assertIn("dimms", self.refused({}, {}, dimms=wrong, memory=128))

    def test_plugged_processors(self) -> None:
        """Those that came while it ran are some of its processors, and never all; an older version tells of none."""
        self.taken({}, {}, plugged_vcpus=1)
        self.assertEqual(machine_of(told(kvm_spec(), {})).plugged_vcpus, 0)
        self.assertIn("no part of", self.refused({}, {}, plugged_vcpus=2))
        self.assertIn("plugged_vcpus", self.refused({}, {}, plugged_vcpus=-1))

    def test_places(self) -> None:
        """A place says where a device is, and nothing else."""
        self.taken({}, {}, places={"disk0": {"bus": "pci.0", "addr": "0xd"}})
        self.taken({}, {}, places={"disk0": {"bus": "scsi.0", "channel": 0, "scsi_id": 1, "lun": 0}})
        for wrong in (
            {"bus": "pci.0", "addr": "0xd", "romfile": "/etc/shadow"},
            {"bus": "pci.0", "addr": "0xd,romfile=/etc/shadow"},
            {"bus": "pci.0,romfile=/etc/shadow", "addr": "0xd"},
            {"bus": "pci.0", "addr": "0xff"},
            {"bus": "pci.0", "scsi_id": 1},
            {"bus": "pci.0"},
            {"bus": "scsi.0"},
            {"bus": "scsi.0", "addr": "0x1"},
            {"bus": "scsi.0", "scsi_id": -1},
        ):
            self.assertIn("$.places", self.refused({}, {}, places={"disk0": wrong}))
        self.assertIn("$.places", self.refused({}, {}, places={"x,y": {"bus": "pci.0", "addr": "0xd"}}))

    def test_type(self) -> None:
        """The other node gives the name of a type: what QEMU is told beside it, such as a kernel, is the configuration's."""
        for option in ("kernel=/k,initrd=/etc/shadow", "firmware=/etc/shadow", "dtb=/etc/shadow", "\n", "\x1b[2J"):
            said = self.refused({}, {}, machine=f"pc-i440fx-7.2,{option}")
            self.assertIn("not a type of machine: 'pc-i440fx-7.2,", said)
            self.assertTrue(said.isprintable())
        self.assertIn("not a type", self.refused({}, {}, machine=""))
        own = {"machine_version": "q35,kernel-irqchip=split,type=pc"}
        self.assertEqual(
            self.taken(own, own, machine="pc-q35-7.2")["machine_version"], "pc-q35-7.2,kernel-irqchip=split"
        )
        for runs in ("pc", "pc,kernel=/etc/shadow", "kernel-irqchip=split,initrd=/etc/shadow"):
            self.assertIn("may not choose", self.refused(own, {"machine_version": runs}))

    def test_processor(self) -> None:
        """Its features are plain words, if they are not as configured."""
        self.assertEqual(self.taken({}, {"cpu_type": "host,+vmx,l3-cache=on"})["cpu_type"], "host,+vmx,l3-cache=on")
        own = {"cpu_type": "qemu64,model-id=My own /1"}
        self.assertEqual(self.taken(own, own)["cpu_type"], own["cpu_type"])
        self.assertIn("may not choose", self.refused({}, own))

    def test_unusual(self) -> None:
        """What no machine has is refused, in one line that is fit for every terminal."""
        for name, wrong in (
            ("memory", -1),
            ("vcpus", 0),
            ("acceleration", "tcg,x=y"),
            ("cpu_flags", ["\x1b[2J"]),
            ("capabilities", ["x"] * 5000),
            ("version", [7, -2, 0]),
            ("params", {"acpi": {"a": 1}}),
            ("params", {"\x1b[2J": {"a": 1}}),
            ("places", {"disk0": {"bus": "pci.0", "addr": "0xd", "\x1b" * 50: 1}}),
            ("places", {"disk0": {"bus": "\x1b" * 1000, "addr": "0xd"}}),
        ):
            info = {**told(kvm_spec(), {}), name: wrong}
            said = str(self.assertRaises(HypervisorError, machine_of, info))
            self.assertIn(f"`$.{name}", said)
            self.assertTrue(said.isprintable())
            self.assertLess(len(said), 500)

    def test_twice(self) -> None:
        """No device is there twice."""
        self.assertEqual(picked("disks", ["a", "b"], {"b": 2, "a": 1}), [1, 2])
        for uuids in (["a", "a"], ["a", "a", "b"], ["a"]):
            self.assertRaises(HypervisorError, picked, "disks", uuids, {"a": 1, "b": 2})
