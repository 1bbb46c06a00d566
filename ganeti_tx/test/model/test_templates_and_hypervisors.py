"""The declarations of disk templates and hypervisors against the tables of Ganeti 3.0."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model import disk_templates, hypervisors
from ganeti_tx.model.disk_template import Adoption, Mirrored, Place, Template
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.hypervisor import MIGRATION_MODES, Shape
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.logical_id import NodeUuid, fault, kinds, types
from ganeti_tx.model.opcodes.types import MigrationMode
from ganeti_tx.model.params.kinds import defaults_of, types_of

FACTS: dict[str, Any] = json.loads((Path(__file__).parent / "facts" / "declarations.json").read_text())
#: Of parameters that are words, those that no node looks up: for the guest, or looked at before anybody uses them.
OF_GUESTS = frozenset(
    {
        "blockdev_prefix",
        "boot_order",
        "cpu_mask",
        "cpu_type",
        "cpuid",
        "init_script",
        "kernel_args",
        "root_path",
        "soundhw",
    }
)
PLACE = Place(pool="pool", directory="/srv/web1", driver="loop", said={"adopt": "/dev/disk/x", "provider": "x"})


def located(template: Template) -> tuple[Any, ...]:
    """The id of a new disk."""
    assert template.locate is not None
    return template.locate(PLACE, template.name.format(uuid="u", index=0))


SETS: dict[str, Callable[[Template], bool]] = {
    "access_parameter": lambda template: "access" in types_of(template.params),
    "block_devices": lambda template: template.has_disks and not template.in_files,
    "file_based": lambda template: template.in_files,
    "growable": lambda template: template.growable,
    "may_adopt": lambda template: template.adoption is not Adoption.NEVER,
    "mirrored_by_us": lambda template: template.mirrored is Mirrored.INTERNALLY,
    "mirrored_outside": lambda template: template.mirrored is Mirrored.EXTERNALLY,
    "movable_by_copy": lambda template: template.mirrored is Mirrored.NOT,
    "must_adopt": lambda template: template.adoption is Adoption.ALWAYS,
    "not_convertible_from": lambda template: not template.convertible_from,
    "not_convertible_to": lambda template: not template.convertible_to,
    "path_has_instance_name": lambda template: PLACE.directory in str(template.locate and located(template)),
    "snapshots": lambda template: template.snapshots,
}
#: Sets of what is not built (exclusive storage), and of what differs on purpose (doc/design/declarations.rst).
OTHERS = {"exclusive_storage", "no_free_space_check"}
#: What is in a set here and not in Ganeti's (doc/differences.rst).
MORE = {"snapshots": {DiskTemplate.RBD}}


class TemplateTests(SynchronousTestCase):
    """Disk templates."""

    def test_sets(self) -> None:
        """Each is in the sets of the table, and in no other."""
        facts = FACTS["disk_templates"]["sets"]
        self.assertEqual(set(facts) - OTHERS, set(SETS))
        for name, is_in in SETS.items():
            own = MORE.get(name, set())
            found = [word for word, template in TEMPLATES.items() if is_in(template)]
            self.assertEqual([word for word in found if word not in own], facts[name], name)
            self.assertLessEqual(own, set(found))

    def test_storage(self) -> None:
        """Each lies in the storage of the table; those of the table are enabled by default."""
        found = {word.value: template.storage.value for word, template in TEMPLATES.items()}
        self.assertEqual(found, FACTS["disk_templates"]["storage_types"])
        self.assertEqual(list(disk_templates.BY_DEFAULT), FACTS["disk_templates"]["enabled_by_default"])

    def test_room(self) -> None:
        """A mirror takes room for its metadata, too; what the cluster does not make takes none."""
        rooms = {word.value: template.room(1000) - 1000 for word, template in TEMPLATES.items()}
        other = {"drbd": FACTS["disk_templates"]["meta_size"], "blockdev": -1000, "diskless": -1000}
        self.assertEqual(rooms, {**dict.fromkeys(DiskTemplate, 0), **other})

    def test_children(self) -> None:
        """What a disk is made of is a template that is declared, whose parameters are passed on by names that are known."""
        for word, template in TEMPLATES.items():
            for child in template.children:
                whole, own = types_of(template.params), types_of(TEMPLATES[DiskTemplate(child.template)].params)
                self.assertLessEqual(set(child.params), set(own), word)
                self.assertLessEqual({*child.params.values(), child.pool_param} - {None}, set(whole), word)
            self.assertLessEqual(set(template.on_node), set(types_of(template.params)), word)

    def test_located(self) -> None:
        """A new disk gets an id that fits; those on several nodes are put together from what the cluster hands out."""
        for word, template in TEMPLATES.items():
            if NodeUuid in kinds(template.logical_id) or not template.has_disks:
                self.assertIsNone(template.locate, word)
            else:
                self.assertIsNone(fault(template.logical_id, word, located(template)), word)
            self.assertLessEqual(set(types(template.logical_id)), {str, int}, word)
            self.assertEqual(template.secondaries > 0, template.mirrored is Mirrored.INTERNALLY, word)

    def test_available(self) -> None:
        """An instance for which nobody names a template has disks."""
        self.assertTrue(TEMPLATES[disk_templates.AVAILABLE[0]].has_disks)
        self.assertFalse(TEMPLATES[disk_templates.WITHOUT_DISKS].has_disks)


class HypervisorTests(SynchronousTestCase):
    """Hypervisors."""

    def test_ports(self) -> None:
        """Those of the table have a port for their display."""
        found = [word for word, kind in HYPERVISORS.items() if kind.takes_port]
        self.assertEqual(found, FACTS["hypervisors"]["with_network_port"])

    def test_parameters(self) -> None:
        """Those parameters are for the cluster only that the table says; what can migrate has a mode for it."""
        for word, kind in HYPERVISORS.items():
            self.assertEqual(sorted(kind.cluster_only), FACTS["hypervisors"]["cluster_only"][word], word)
            self.assertEqual(kind.migrates, "migration_mode" in kind.cluster_only, word)

    def test_choices(self) -> None:
        """Parameters that are one of some words are known, and by default are one of these; live migration is the first."""
        for word, kind in HYPERVISORS.items():
            self.assertEqual(list(kind.wrong_values(defaults_of(kind.params))), [], word)
            self.assertEqual("migration_mode" in kind.choices, kind.migrates, word)
            for name in kind.choices:
                (fault,) = kind.wrong_values({**defaults_of(kind.params), name: "nonsense"})
                self.assertTrue(fault.startswith(f"{name}: 'nonsense' is none of "), fault)
        self.assertEqual(list(MIGRATION_MODES), list(MigrationMode))

    def test_reaching(self) -> None:
        """Of every parameter that is a word of whatever kind it is told whether an instance reaches into its node by it."""
        for word, kind in HYPERVISORS.items():
            words = {name for name, declared in types_of(kind.params).items() if declared not in (bool, int)}
            self.assertEqual(words - set(kind.choices) - OF_GUESTS - set(kind.reaching), set(), word)
            self.assertLessEqual(set(kind.reaching), set(types_of(kind.params)) - kind.cluster_only, word)
            for name, harmless in kind.reaching.items():
                self.assertTrue(kind.reaches_node(name, "/etc/shadow,x=y"), name)
                self.assertEqual(kind.reaches_node(name, ""), harmless is None or not re.fullmatch(harmless, ""), name)

    def test_unset(self) -> None:
        """Of each parameter of our own it is told what is so as long as it is not set: a value that it may have."""
        for word, kind in HYPERVISORS.items():
            own = {field.name for field in msgspec.structs.fields(kind.params) if field.default is msgspec.UNSET}
            self.assertEqual(set(kind.unset), own, word)
            filled = {**defaults_of(kind.params), **kind.unset}
            self.assertEqual(msgspec.to_builtins(msgspec.convert(filled, kind.params)), filled, word)
            self.assertEqual(list(kind.wrong_values(filled)), [], word)

    def test_unfit(self) -> None:
        """What could never be started is known without asking a node; what each has by default can be."""
        for word, kind in HYPERVISORS.items():
            self.assertEqual(list(kind.unfit(defaults_of(kind.params), Shape(memory=128, vcpus=1, disks=1))), [], word)
        kvm, lxc, chroot = (HYPERVISORS[each] for each in (Hypervisor.KVM, Hypervisor.LXC, Hypervisor.CHROOT))
        limited = {"memory_limit": 127}
        self.assertEqual(
            list(kvm.unfit(limited, Shape(memory=128, vcpus=1, disks=0))),
            ["memory_limit: 127 MiB are less than the 128 MiB of the guest"],
        )
        self.assertEqual(list(kvm.unfit(limited, Shape(memory=127, vcpus=1, disks=0))), [])
        most = {"max_memory": 256, "max_vcpus": 2}
        self.assertEqual(list(kvm.unfit(most, Shape(memory=256, vcpus=2, disks=0))), [])
        self.assertEqual(list(kvm.unfit(dict.fromkeys(most, 0), Shape(memory=256, vcpus=2, disks=0))), [])
        self.assertEqual(
            list(kvm.unfit(most, Shape(memory=257, vcpus=3, disks=0))),
            [
                "max_memory: 256 is less than the 257 MiB that the guest begins with",
                "max_vcpus: 2 is less than the 3 processors that the guest begins with",
            ],
        )
        for word in (Hypervisor.KVM, Hypervisor.XEN_HVM, Hypervisor.XEN_PVM):
            params = {"cpu_mask": "0:1"}
            fits = [list(HYPERVISORS[word].unfit(params, Shape(memory=1, vcpus=vcpus, disks=0))) for vcpus in (2, 3)]
            self.assertEqual(fits, [[], ["cpu_mask: '0:1' has 2 masks for 3 virtual processors"]])
        self.assertEqual(len(list(lxc.unfit({}, Shape(memory=1, vcpus=1, disks=0)))), 1)
        self.assertEqual(len(list(chroot.unfit({}, Shape(memory=1, vcpus=1, disks=2)))), 1)

    def test_topology(self) -> None:
        """The processors that a guest can have at most are spread over what is said, as QEMU would."""
        kvm, names = HYPERVISORS[Hypervisor.KVM], ("cpu_sockets", "cpu_cores", "cpu_threads")
        for vcpus, most, numbers, fits in (
            (2, 0, (0, 2, 0), True),
            (2, 4, (2, 2, 0), True),
            (4, 0, (1, 2, 2), True),
            (4, 0, (1, 1, 2), False),
            (2, 0, (2, 2, 0), False),
            (2, 0, (0, 3, 0), False),
            (2, 4, (0, 3, 0), False),
            (4, 0, (8, 0, 0), False),
        ):
            params = {"max_vcpus": most, **dict(zip(names, numbers, strict=True))}
            told = list(kvm.unfit(params, Shape(memory=1, vcpus=vcpus, disks=0)))
            self.assertEqual(not told, fits, (params, told))
        self.assertEqual(told, ["cpu_sockets=8: the 4 processors that the guest can have do not spread so"])

    def test_preferred(self) -> None:
        """What a cluster has by default is available, and comes first."""
        self.assertEqual(hypervisors.AVAILABLE[: len(hypervisors.BY_DEFAULT)], hypervisors.BY_DEFAULT)
