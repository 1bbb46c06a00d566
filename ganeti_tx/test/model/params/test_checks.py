"""Layers fill up, and given values are checked."""

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ParameterError, TypeEnforcementError
from ganeti_tx.logic.instance import reinstall
from ganeti_tx.logic.instance.modify import parameters
from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.model.params import backend, disk, hypervisor, nic, node, os
from ganeti_tx.model.params.ipolicy import InstancePolicy, InstanceSpecs, check_ipolicy, fill, violations
from ganeti_tx.model.params.kinds import check_complete, defaults_of, difference, updated
from ganeti_tx.model.settings import rules
from ganeti_tx.test.model.samples import CLUSTER, GROUP, INSTANCE, NODE

LAYERED = replace(
    CLUSTER,
    hvparams={Hypervisor.KVM: {"acpi": False, "vga": "cluster", "keymap": "cluster", "usb_mouse": "cluster"}},
    os_hvp={
        "debian": {Hypervisor.KVM: {"vga": "os", "keymap": "os", "migration_port": 1}},
        "debian+default": {Hypervisor.KVM: {"keymap": "variant"}},
    },
    osparams={"debian": {"a": "os", "b": "os"}, "debian+default": {"b": "variant"}},
)
FITTING = InstanceSpecs(
    memory_size=128, cpu_count=1, disk_sizes=(1024,), nic_count=1, spindle_use=1, disk_templates=(DiskTemplate.PLAIN,)
)


class FillTests(SynchronousTestCase):
    """The layer nearer to the object counts more."""

    def test_hypervisor(self) -> None:
        """Built-in, cluster, OS, variant, instance; what is for the cluster only is not taken from an OS."""
        own = replace(INSTANCE, hvparams={"vnc_bind_address": "::1"})
        filled = hypervisor.instance_hvparams(LAYERED, own)
        params = hypervisor.typed_hvparams(Hypervisor.KVM, filled)
        assert isinstance(params, KvmParams)
        got = (params.acpi, params.usb_mouse, params.vga, params.keymap, params.vnc_bind_address, params.migration_port)
        self.assertEqual(got, (False, "cluster", "os", "variant", "::1", 8102))
        self.assertEqual(set(filled), set(defaults_of(KvmParams)))

    def test_os(self) -> None:
        """OS parameters have no built-in values, only layers."""
        self.assertEqual(
            os.fill_osparams(LAYERED, "debian+default", {"c": "own"}), {"a": "os", "b": "variant", "c": "own"}
        )

    def test_node(self) -> None:
        """A node's own goes before its group's, but for what is not for nodes."""
        group = replace(GROUP, ndparams={"ssh_port": 23, "spindle_count": 2, "exclusive_storage": True})
        own = replace(NODE, ndparams={"ssh_port": 24, "exclusive_storage": False})
        params = node.typed_ndparams(node.fill_ndparams(CLUSTER, group, own))
        self.assertEqual((params.ssh_port, params.spindle_count, params.exclusive_storage), (24, 2, True))

    def test_disk(self) -> None:
        """A group's disk parameters go before the cluster's, template by template."""
        cluster = replace(CLUSTER, diskparams={DiskTemplate.PLAIN: {"stripes": 2}, DiskTemplate.RBD: {"pool": "p"}})
        filled = disk.fill_diskparams(cluster, replace(GROUP, diskparams={DiskTemplate.PLAIN: {"stripes": 3}}))
        self.assertEqual((filled[DiskTemplate.PLAIN]["stripes"], filled[DiskTemplate.RBD]["pool"]), (3, "p"))

    @given(st.dictionaries(st.sampled_from(sorted(defaults_of(backend.BackendParams))), st.integers(0, 3)))
    @settings(max_examples=50, deadline=None)
    def test_difference(self, own: dict[str, object]) -> None:
        """The stored difference fills up to what was meant."""
        base = backend.fill_beparams(CLUSTER)
        meant = {**base, **own}
        self.assertEqual({**base, **difference(meant, base)}, meant)
        self.assertEqual(difference(base, base), {})


class CheckTests(SynchronousTestCase):
    """Unknown names and wrong types are refused; text is converted."""

    def test_words(self) -> None:
        """Text from a command line becomes what the parameter is declared to be."""
        given = {"acpi": "no", "vhost_net": "TRUE", "cpu_cores": "4", "root_path": "none", "vga": "std"}
        self.assertEqual(
            hypervisor.check_hvparams(Hypervisor.KVM, given),
            {"acpi": False, "vhost_net": True, "cpu_cores": 4, "root_path": None, "vga": "std"},
        )

    def test_wrong_type(self) -> None:
        """A value that does not fit is named with its type."""
        for asked, text in (
            ({"acpi": "x"}, "hvparams.acpi: invalid value 'x' for bool parameter acpi"),
            ({"cpu_cores": True}, "hvparams.cpu_cores: invalid value True for int parameter cpu_cores"),
            ({"cpu_cores": "1.5"}, "hvparams.cpu_cores: invalid value '1.5' for int parameter cpu_cores"),
            ({"vga": None}, "hvparams.vga: invalid value None for string parameter vga"),
        ):
            error = self.assertRaises(TypeEnforcementError, hypervisor.check_hvparams, Hypervisor.KVM, asked)
            self.assertEqual(str(error), text)

    def test_unknown(self) -> None:
        """An unknown name is refused with those allowed."""
        error = self.assertRaises(ParameterError, nic.check_nicparams, {"colour": "red"})
        self.assertEqual(str(error), "nicparams.colour: unknown parameter, allowed are link, mode, vlan")

    def test_cluster_only(self) -> None:
        """What holds for the cluster only is refused for less."""
        given = {"migration_port": 1}
        self.assertRaises(ParameterError, hypervisor.check_hvparams, Hypervisor.KVM, given)
        self.assertEqual(hypervisor.check_hvparams(Hypervisor.KVM, given, for_cluster=True), given)
        self.assertRaises(ParameterError, node.check_ndparams, {"exclusive_storage": True}, for_node=True)

    def test_sizes(self) -> None:
        """Sizes are MiB and may carry a unit."""
        for text, mib in (("512", 512), ("512M", 512), ("4g", 4096), ("1.5T", 1572864), (7, 7)):
            self.assertEqual(backend.check_beparams({"maxmem": text}), {"maxmem": mib})
        for text in ("-1", "4x", "", "g", -1, "nan"):
            self.assertRaises(TypeEnforcementError, backend.check_beparams, {"maxmem": text})

    def test_memory(self) -> None:
        """The legacy word sets both bounds, and only alone."""
        self.assertEqual(backend.check_beparams({"memory": "1g"}), {"minmem": 1024, "maxmem": 1024})
        self.assertRaises(ParameterError, backend.check_beparams, {"memory": 1, "maxmem": 2})
        self.assertRaises(ParameterError, backend.typed_beparams, {"minmem": 9, "maxmem": 8})

    def test_default_takes_away(self) -> None:
        """The word "default" takes an override away; others stay."""
        change = backend.check_beparams({"vcpus": "default", "maxmem": 9})
        self.assertEqual(updated({"vcpus": 3, "minmem": 4}, change), {"minmem": 4, "maxmem": 9})

    def test_complete(self) -> None:
        """Where all parameters are asked for, a missing one is named."""
        error = self.assertRaises(ParameterError, check_complete, nic.NicParams, {"mode": "routed", "vlan": ""}, "nic")
        self.assertEqual(str(error), "nic.link: missing")

    def test_nic_mode(self) -> None:
        """A NIC's mode is a known one, and a bridged NIC has a link."""
        for wrong in ({"mode": "flying"}, {"link": ""}):
            self.assertRaises(ParameterError, nic.typed_nicparams, nic.fill_nicparams(CLUSTER, wrong))

    def test_osparams(self) -> None:
        """OS parameters are text, and an error does not show them."""
        error = self.assertRaises(ParameterError, os.check_osparams, {"pin": 4711})
        self.assertNotIn("4711", str(error))

    def test_too_many_osparams(self) -> None:
        """They have a limit together, in number and in bytes; what adds to held ones is counted with them."""
        self.assertRaises(ParameterError, os.check_osparams, {str(number): "" for number in range(os.MOST + 1)})
        half = os.LONGEST_TOGETHER // 2
        held = os.check_osparams({"a": "\u00e9" * (half // 2)})
        for changed in (parameters.changed_osparams, reinstall.merged):
            error = self.assertRaises(ParameterError, changed, held, {"b": "x" * half}, "osparams_private")
            self.assertIn("osparams_private: 2 parameters of", str(error))
            self.assertEqual(
                changed({**held, "b": "x" * half, "c": ""}, {"c": "default"}, "osparams").keys(), {"a", "b"}
            )
        error = self.assertRaises(ParameterError, rules.osparams, {"noop": held}, {"noop": {"b": "x" * half}})
        self.assertIn("osparams.noop: 2 parameters of", str(error))

    def test_disk_templates(self) -> None:
        """Unknown templates and parameters are refused with their path."""
        self.assertEqual(disk.check_diskparams({"drbd": {"resync-rate": "5"}}), {"drbd": {"resync-rate": 5}})
        self.assertRaises(ParameterError, disk.check_diskparams, {"tape": {}})
        self.assertEqual(disk.check_diskparams({"plain": {"stripe-size": "64"}}), {"plain": {"stripe-size": 64}})
        self.assertNotIn("stripe-size", disk.fill_diskparams(CLUSTER)[DiskTemplate.PLAIN])
        wrong = self.assertRaises(ParameterError, disk.check_diskparams, {"plain": {"stripe-size": 65}})
        self.assertIn("diskparams.plain.stripe-size: 65 is not allowed; allowed are 4, 8, 16", str(wrong))
        error = self.assertRaises(TypeEnforcementError, disk.check_diskparams, {"plain": {"stripes": "x"}})
        self.assertIn("diskparams.plain.stripes", str(error))


class PolicyTests(SynchronousTestCase):
    """What instances a policy admits."""

    def test_fitting(self) -> None:
        """Sizes on the bounds are admitted."""
        self.assertEqual(violations(InstancePolicy(), FITTING), [])

    def test_reasons(self) -> None:
        """Each size outside the bounds is a reason, as is a template that is not allowed."""
        policy = fill(InstancePolicy(), check_ipolicy({"disk-templates": ["drbd"]}))
        specs = replace(FITTING, memory_size=64, disk_sizes=(1024, 5))
        self.assertEqual(
            violations(policy, specs),
            [
                "Disk template plain is not allowed (allowed templates drbd)",
                "memory-size value 64 is not in range [128, 32768]",
                "disk-size/1 value 5 is not in range [1024, 1048576]",
            ],
        )

    def test_one_pair_is_enough(self) -> None:
        """An instance has to fit one of several pairs of bounds."""
        policy = InstancePolicy()
        small = replace(policy.minmax[0], max=replace(policy.minmax[0].max, memory_size=128))
        big = replace(policy.minmax[0], min=replace(policy.minmax[0].min, memory_size=4096))
        both = replace(policy, minmax=(small, big))
        self.assertEqual(violations(both, replace(FITTING, memory_size=8192)), [])
        self.assertEqual(len(violations(both, replace(FITTING, memory_size=1000))), 1)

    def test_diskless(self) -> None:
        """An instance without disks is not measured by their number."""
        specs = replace(FITTING, disk_sizes=(), disk_templates=(DiskTemplate.DISKLESS,))
        self.assertEqual(violations(InstancePolicy(), specs), [])

    def test_wrong_settings(self) -> None:
        """Faults of a policy are named by their path."""
        low = {"memory-size": 9, "cpu-count": 1, "disk-count": 1, "disk-size": 1, "nic-count": 1, "spindle-use": 1}
        for asked, text in (
            ({"colour": 1}, "ipolicy.colour: unknown key"),
            ({"minmax": []}, "ipolicy.minmax: must not be empty"),
            ({"vcpu-ratio": 0.5}, "ipolicy.vcpu-ratio: must be at least 1, got 0.5"),
            ({"minmax": [{"min": low}]}, "ipolicy.minmax[0].max: missing"),
            (
                {"minmax": [{"min": low, "max": {**low, "memory-size": 8}}]},
                "ipolicy.minmax[0].min.memory-size: must be between 0 and the maximum 8, got 9",
            ),
        ):
            self.assertEqual(str(self.assertRaises(ParameterError, check_ipolicy, asked)), text)
