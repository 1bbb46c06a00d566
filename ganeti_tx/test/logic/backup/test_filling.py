"""What an export may say of the parameters of its instance, and what only a request may."""

from collections.abc import Mapping
from typing import Any

from attrs import evolve
from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.logic.backup.filling import filled
from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.export_file import Exported, ExportedDisk
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.opcodes.instance_create import OpInstanceCreate
from ganeti_tx.model.opcodes.types import InstanceCreateMode
from ganeti_tx.model.params.hypervisor import fill_hvparams
from ganeti_tx.test.model.samples import CLUSTER

NAME = "web1.example.com"
EXPORTED = Exported(
    name=NAME,
    os="noop",
    hypervisor="kvm",
    disk_template="file",
    tags=[],
    disks=[ExportedDisk(size=128)],
    nics=[],
    hvparams={},
    beparams={},
    osparams={},
    osparams_private={},
)
#: What the machine is, which is the guest's.
OWN = {
    "acpi": "True",
    "disk_type": "ide",
    "kernel_path": "",
    "machine_version": "pc-q35-7.2",
    "vga": "std",
    "uefi": "True",
}


class FillingTests(SynchronousTestCase):
    """A cluster that has its own way to run machines."""

    def setUp(self) -> None:
        ours = {"vnc_bind_address": "127.0.0.1", "vnc_password_file": "/etc/ganeti/vnc", "security_model": "pool"}
        self.cluster = replace(CLUSTER, hvparams={Hypervisor.KVM: ours})

    def imported(self, said: Mapping[str, str], given: Mapping[str, str] = {}) -> tuple[dict[str, Any], list[str]]:
        """The parameters of the instance, and the warnings. @param said: by the export. @param given: by the request."""
        mode = InstanceCreateMode.IMPORT
        op = OpInstanceCreate(instance_name=NAME, mode=mode, disks=(), nics=(), hvparams={**given})
        warnings: list[str] = []
        made = filled(op, evolve(EXPORTED, hvparams=said), NAME, self.cluster, warnings.append)
        return dict(made.hvparams), warnings

    def told(self, said: Mapping[str, Any], **given: Any) -> tuple[OpInstanceCreate, list[str]]:
        """The whole request, and the warnings. @param said: by the export. @param given: by the request."""
        asked = {"disks": (), "nics": (), **given}
        op = OpInstanceCreate(instance_name=NAME, mode=InstanceCreateMode.IMPORT, **asked)
        warnings: list[str] = []
        return filled(op, evolve(EXPORTED, **said), NAME, self.cluster, warnings.append), warnings

    def test_hypervisor(self) -> None:
        """One that does not keep its guests from the node is the cluster's or the request's to say; any other comes along."""
        for word in Hypervisor:
            self.cluster = replace(self.cluster, enabled_hypervisors=(Hypervisor.KVM, *Hypervisor))
            said = {"hypervisor": word.value}
            if HYPERVISORS[word].confines:
                made, warnings = self.told(said)
                self.assertEqual((made.hypervisor, warnings), (word, []))
                continue
            error = self.assertRaises(OpPrereqError, self.told, said)
            self.assertRegex(
                str(error),
                f"the export has the hypervisor {word.value}, .*not the cluster's \\(kvm\\).*: -H {word.value}$",
            )
            self.assertEqual(self.told(said, hypervisor=word)[0].hypervisor, word)
            self.assertEqual(self.told(said, hypervisor=Hypervisor.KVM)[0].hypervisor, Hypervisor.KVM)
            self.cluster = replace(self.cluster, enabled_hypervisors=(word, Hypervisor.KVM))
            self.assertEqual(self.told(said)[0].hypervisor, word)

    def test_tags(self) -> None:
        """Those of the export are taken, and told, as who is kept to one of them has the instance from then on."""
        made, [warning] = self.told({"tags": ["other", "a", "a"]})
        self.assertEqual(made.tags, ("a", "other"))
        self.assertIn("tags of the export are taken, by which instances may be given to people: 'a, other'", warning)
        made, warnings = self.told({"tags": ["other"]}, tags=("mine",))
        self.assertEqual((made.tags, warnings), (("mine",), []))

    def test_nics(self) -> None:
        """What they are tied to comes along, and is told where the cluster has another; those of the request are its own."""
        nics = [
            {"mac": "aa:00:00:00:00:01", "mode": "bridged", "link": "br0"},
            {"mac": "aa:00:00:00:00:02", "mode": "routed", "link": "mgmt0", "vlan": "7"},
            {"mac": "aa:00:00:00:00:03", "mode": "bridged", "link": "br9", "network": "net-uuid"},
        ]
        self.cluster = replace(self.cluster, nicparams={"default": {"link": "br0"}})
        made, [second] = self.told({"nics": nics})
        self.assertEqual([dict(nic) for nic in made.nics[:2]], nics[:2])
        self.assertEqual(
            second,
            "nic/1 is tied to its node as the export says, and not as the cluster has it: mode 'routed', link 'mgmt0', vlan"
            " '7'; if another is meant give it: --net 1:...",
        )
        given = ({"mac": "generate"},)
        self.assertEqual(self.told({"nics": nics}, nics=given)[1], [])
        self.assertEqual(self.told({"nics": nics}, no_nics=True)[1], [])

    def formats(self, said: str, template: DiskTemplate | None = None, **more: Any) -> tuple[list[Any], list[str]]:
        """What is asked for each disk, of which the second had a format; and the warnings."""
        op = OpInstanceCreate(
            instance_name=NAME, mode=InstanceCreateMode.IMPORT, nics=(), disk_template=template, **{"disks": (), **more}
        )
        warnings: list[str] = []
        disks = [ExportedDisk(size=128), ExportedDisk(size=64, name="data", format=said)]
        made = filled(op, evolve(EXPORTED, disks=disks), NAME, self.cluster, warnings.append)
        return [*made.disks], warnings

    def test_formats(self) -> None:
        """A disk's format comes with it, where the new disks can have it; else it is told that they do not."""
        image = {"size": 64, "name": "data", "format": "qcow2"}
        for template in (None, DiskTemplate.SHAREDFILE):
            self.assertEqual(self.formats("qcow2", template), ([{"size": 128}, image], []))
        raw = [{"size": 128}, {"size": 64, "name": "data"}]
        self.assertEqual(self.formats("raw"), (raw, []))
        for said, template, hypervisor, possible in (
            ("qcow2", DiskTemplate.PLAIN, Hypervisor.KVM, "raw"),
            ("qcow2", DiskTemplate.FILE, Hypervisor.XEN_PVM, "raw"),
            ("vmdk", DiskTemplate.FILE, Hypervisor.KVM, "qcow2, raw"),
        ):
            disks, [told] = self.formats(said, template, hypervisor=hypervisor)
            self.assertEqual(disks, raw)
            self.assertEqual(
                told,
                f"disk/1 had the format {said!r} when it was exported, and becomes raw, as the new instance's disks can be"
                f" {possible} only",
            )
        given = ({"size": 128}, {"size": 64})
        self.assertEqual(self.formats("qcow2", disks=given), ([*given], []))

    def test_machine(self) -> None:
        """What the guest sees comes with it."""
        self.assertEqual(self.imported(OWN), (OWN, []))

    def test_same(self) -> None:
        """All that an instance had on a cluster like this one comes back, as its export says it."""
        kind = HYPERVISORS[Hypervisor.KVM]
        usual = {**kind.unset, **fill_hvparams(self.cluster, Hypervisor.KVM)}
        said = {name: str(value) for name, value in usual.items() if name not in kind.cluster_only}
        self.assertEqual(self.imported(said), (said, []))

    def test_node(self) -> None:
        """How QEMU runs here, and what of the node it has, is not for the export's node to say; each is told."""
        wrong = {
            "kvm_extra": "-device vfio-pci,host=01:00.0",
            "kvm_path": "/srv/export/qemu",
            "kernel_path": "/etc/shadow",
            "machine_version": "pc,kernel=/etc/shadow",
            "security_model": "none",
            "vnc_bind_address": "/run/sockets",
            "vnc_password_file": "",
            "disk_type": "scsi-generic",
            "usb_devices": "host:1234:5678",
            "migration_tls": "False",
        }
        right = {"acpi": "False", "initrd_path": "/boot/initrd.img", "spice_bind": "eth0"}
        taken, warnings = self.imported({**wrong, **right})
        self.assertEqual(taken, right)
        for warning, (name, value) in zip(warnings, sorted(wrong.items()), strict=True):
            self.assertIn(f"hypervisor parameter {name} of the export is left out", warning)
            self.assertIn(f": {value!r}; if it is meant give it: -H kvm:{name}=...", warning)

    def test_given(self) -> None:
        """What the request says is so, and nothing is to be told of it."""
        given = {"kvm_extra": "-device pvpanic"}
        self.assertEqual(self.imported(given, given), (given, []))

    def test_shown(self) -> None:
        """A long value is cut, and no terminal obeys it."""
        _, [warning] = self.imported({"kvm_extra": "\x1b[2J" + "x" * 5000})
        self.assertTrue(warning.isprintable() and len(warning) < 500, warning)
