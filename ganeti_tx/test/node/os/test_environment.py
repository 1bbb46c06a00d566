"""Tests of the environment of OS scripts, variable by variable."""

from pathlib import Path

import attrs
import msgspec
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec, NicSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.os.definition import OsDefinition
from ganeti_tx.node.os.environment import os_environment

OS = OsDefinition("debian", Path("/os/debian"), 20, (20,), ("lenny", "squeeze"))
DISK = DiskSpec(uuid="d0", dev_type="file", size=1024, logical_id=["loop", "/srv/d0"], index=0, name="root")
NET = {"name": "lan", "uuid": "n0", "network": "192.0.2.0/24", "gateway": "192.0.2.1", "tags": ["b", "a"]}
INSTANCE = InstanceSpec(
    name="web1.example.com",
    uuid="i0",
    primary_node="p0",
    secondary_nodes=["s0", "s1"],
    hypervisor="kvm",
    os="debian+squeeze",
    hvparams={"disk_type": "paravirtual", "nic_type": "e1000", "acpi": True},
    beparams={"maxmem": 512},
    osparams={"dhcp": "yes"},
    osparams_private={"mirror-url": "m"},
    osparams_secret={"key": "k"},
    nics=[NicSpec(uuid="c0", mac="aa:00:00:00:00:01", mode="bridged", link="br0", ip="192.0.2.9", netinfo=NET)],
    disks=[DISK],
    ctime=1.5,
    mtime=2.5,
)
ALL = {
    "DEBUG_LEVEL": "1",
    "DISK_0_ACCESS": "rw",
    "DISK_0_BACKEND_TYPE": "file:loop",
    "DISK_0_FRONTEND_TYPE": "paravirtual",
    "DISK_0_NAME": "root",
    "DISK_0_PATH": "/srv/d0",
    "DISK_0_SIZE": "1024",
    "DISK_0_UUID": "d0",
    "DISK_COUNT": "1",
    "HYPERVISOR": "kvm",
    "INSTANCE_HYPERVISOR": "kvm",
    "INSTANCE_BE_maxmem": "512",
    "INSTANCE_CTIME": "1.5",
    "INSTANCE_HV_acpi": "True",
    "INSTANCE_HV_disk_type": "paravirtual",
    "INSTANCE_HV_nic_type": "e1000",
    "INSTANCE_MTIME": "2.5",
    "INSTANCE_NAME": "web1.example.com",
    "INSTANCE_OS": "debian+squeeze",
    "INSTANCE_PRIMARY_NODE": "p0",
    "INSTANCE_SECONDARY_NODES": "s0 s1",
    "INSTANCE_UUID": "i0",
    "NIC_0_BRIDGE": "br0",
    "NIC_0_FRONTEND_TYPE": "e1000",
    "NIC_0_IP": "192.0.2.9",
    "NIC_0_LINK": "br0",
    "NIC_0_MAC": "aa:00:00:00:00:01",
    "NIC_0_MODE": "bridged",
    "NIC_0_NETWORK_GATEWAY": "192.0.2.1",
    "NIC_0_NETWORK_NAME": "lan",
    "NIC_0_NETWORK_SUBNET": "192.0.2.0/24",
    "NIC_0_NETWORK_TAGS": "a b",
    "NIC_0_NETWORK_UUID": "n0",
    "NIC_0_UUID": "c0",
    "NIC_COUNT": "1",
    "OSP_DHCP": "yes",
    "OSP_KEY": "k",
    "OSP_MIRROR_URL": "m",
    "OS_API_VERSION": "20",
    "OS_NAME": "debian",
    "OS_VARIANT": "squeeze",
    "PATH": "/sbin:/bin:/usr/sbin:/usr/bin",
}


class EnvironmentTests(SynchronousTestCase):
    """What a script gets and nothing else."""

    def test_everything(self) -> None:
        """Every variable has its name and form; nothing is inherited."""
        self.assertEqual(os_environment(OS, INSTANCE, [AttachedDisk(DISK, "/srv/d0")], 3), ALL)

    def test_older_versions(self) -> None:
        """A definition is told only what the version has that it speaks (design-2.0; variants and more came with 15)."""
        spoken = {
            version: os_environment(attrs.evolve(OS, api_version=version), INSTANCE, [AttachedDisk(DISK, "/srv/d0")], 3)
            for version in (10, 15)
        }
        self.assertEqual(set(ALL) - set(spoken[15]), {"OSP_DHCP", "OSP_KEY", "OSP_MIRROR_URL"})
        first = {
            *("PATH", "OS_API_VERSION", "DEBUG_LEVEL", "INSTANCE_NAME", "HYPERVISOR", "DISK_COUNT", "NIC_COUNT"),
            *("DISK_0_PATH", "DISK_0_ACCESS", "DISK_0_FRONTEND_TYPE", "DISK_0_BACKEND_TYPE"),
            *("NIC_0_MAC", "NIC_0_IP", "NIC_0_BRIDGE", "NIC_0_FRONTEND_TYPE"),
        }
        self.assertEqual(spoken[10], {name: ALL[name] for name in first} | {"OS_API_VERSION": "10"})

    def test_block_device(self) -> None:
        """A disk that is no file is a block device; what it does not have is absent, a URI of its own is told."""
        disk = DiskSpec(uuid="d1", dev_type="rbd", size=8, logical_id=["rbd", "x"], index=0, mode="ro")
        instance = msgspec.structs.replace(INSTANCE, disks=[disk], hvparams={})
        environment = os_environment(OS, instance, [AttachedDisk(disk, "", "rbd:pool/x")])
        self.assertEqual(
            {key: value for key, value in environment.items() if key.startswith("DISK_0")},
            {
                "DISK_0_ACCESS": "ro",
                "DISK_0_BACKEND_TYPE": "block",
                "DISK_0_SIZE": "8",
                "DISK_0_URI": "rbd:pool/x",
                "DISK_0_UUID": "d1",
            },
        )

    def test_plain_nic(self) -> None:
        """A routed NIC without network, name and address has no variables for them."""
        nic = NicSpec(uuid="c1", mac="aa:00:00:00:00:02", mode="routed", link="100")
        environment = os_environment(OS, msgspec.structs.replace(INSTANCE, nics=[nic], hvparams={}), [])
        self.assertEqual(
            {key for key in environment if key.startswith("NIC_0")},
            {"NIC_0_MAC", "NIC_0_MODE", "NIC_0_LINK", "NIC_0_UUID"},
        )

    def test_default_variant(self) -> None:
        """Without a variant the first of the list is told; an OS without variants gets an empty one."""
        instance = msgspec.structs.replace(INSTANCE, os="debian")
        self.assertEqual(os_environment(OS, instance, [])["OS_VARIANT"], "lenny")
        self.assertEqual(os_environment(OS, instance, [])["DEBUG_LEVEL"], "0")
        bare = OsDefinition("debian", Path("/os/debian"), 15, (15,))
        self.assertEqual(os_environment(bare, instance, [])["OS_VARIANT"], "")
