"""Values of hypervisor parameters that can be told from right ones without a node are refused where they are set."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ParameterError
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.params.hypervisor import check_hvparams, new_hvparams

#: What may be set (hypervisor-parameters.json), by hypervisor and parameter.
RIGHT: dict[Hypervisor, dict[str, tuple[object, ...]]] = {
    Hypervisor.KVM: {
        "vnc_bind_address": ("", "0.0.0.0", "::1", "2001:db8::7", "eth0", "br-lab", "eth0.17", "eth0:1", "/run/vnc"),
        "spice_bind": ("", "127.0.0.1", "::", "wlp0s20f3", "default"),
        "kvm_extra": ("", "-smbios 'type=11,value=a b'"),
        "keymap": ("", "fr", "en-gb", "fr-ca", "/srv/keymaps/mine", "default"),
        "migration_caps": (
            *("", "xbzrle:auto-converge", "x-rdma-pin-all:zero-blocks", "x-postcopy-ram", "postcopy-ram", "multifd"),
        ),
        "migration_downtime": (0, 30, "300"),
        "migration_port": (8102, 5900, 10999, 15000),
        "disk_cache": ("default", "none"),
    },
    Hypervisor.XEN_HVM: {"vnc_bind_address": ("", "0.0.0.0", "::"), "cpu_cap": (0, 400), "cpu_weight": (1, 65535)},
    Hypervisor.XEN_PVM: {"cpu_weight": (256,), "blockdev_prefix": ("xvd",)},
    Hypervisor.LXC: {"drop_capabilities": ("", "mac_override,sys_boot, sys_time"), "devices": ("c 136:* rw",)},
}
WRONG: dict[Hypervisor, dict[str, tuple[object, ...]]] = {
    Hypervisor.KVM: {
        "vnc_bind_address": ("300.1.2.3", "192.0.2.1:5900", "a b", "-x", "much-too-long-for-one", "/run/\n"),
        "spice_bind": ("1.2.3", "/run/spice", "eth0 "),
        "kvm_extra": ('-name "x',),
        "keymap": ("fr fr", "../fr", "-k", "fr,de"),
        "migration_caps": ("teleport", "xbzrle:teleport", "xbzrle,multifd", "x-"),
        "migration_downtime": (-1, 2_000_001),
        "migration_bandwidth": (-1,),
        "migration_port": (0, 70000, 1811, 1815, 5080, 11000, 14999),
        "disk_cache": ("nosuch",),
        "virtio_net_queues": (9,),
    },
    Hypervisor.XEN_HVM: {
        "vnc_bind_address": ("eth0",),
        "cpu_cap": (-1,),
        "migration_port": (0, 1811),
        "nic_type": ("x",),
    },
    Hypervisor.XEN_PVM: {"cpu_weight": (0, 65536), "xen_cmd": ("xx",)},
    Hypervisor.LXC: {
        "drop_capabilities": ("sys_fly", "CAP_KILL"),
        "devices": ("disk",),
        "extra_config": ("nosuch",),
        "num_ttys": (-1, 65),
        "startup_timeout": (0,),
    },
    Hypervisor.FAKE: {"migration_mode": ("fast",)},
}


class ParameterValueTests(SynchronousTestCase):
    """As the master sees them."""

    def given(self, hypervisor: Hypervisor, **params: Any) -> dict[str, object]:
        """What is to be had from now on, whether of the cluster or of an instance."""
        return new_hvparams(hypervisor, params, for_cluster=bool(params.keys() & HYPERVISORS[hypervisor].cluster_only))

    def test_right(self) -> None:
        """What the table allows."""
        for hypervisor, params in RIGHT.items():
            for name, values in params.items():
                for value in values:
                    self.assertIn(name, self.given(hypervisor, **{name: value}), value)

    def test_wrong(self) -> None:
        """What is none of that is told by parameter and value; a configuration from elsewhere may have it."""
        for hypervisor, params in WRONG.items():
            for name, values in params.items():
                for value in values:
                    error = self.assertRaises(ParameterError, self.given, hypervisor, **{name: value})
                    self.assertRegex(str(error), rf"^hvparams(\.\w\S+)?\.{name}: ")
                    check_hvparams(hypervisor, {name: value}, for_cluster=True)

    def test_all_told(self) -> None:
        """All that is wrong at once, each with what would be right."""
        error = self.assertRaises(
            ParameterError, self.given, Hypervisor.KVM, spice_bind="1.2.3", migration_caps="xbzrl:multifd"
        )
        self.assertIn("hvparams.spice_bind: '1.2.3' is not an IP address or the name of an interface", str(error))
        self.assertIn(
            "hvparams.migration_caps: 'xbzrl' is not an ability of QEMU to migrate; known are auto-", str(error)
        )
