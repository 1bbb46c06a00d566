"""A Debian with cloud-init comes up as a container with its name, its keys, its address and what its user wants done."""

import base64
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import msgspec
from twisted.internet import reactor
from twisted.internet.task import deferLater
from twisted.trial.unittest import SkipTest, TestCase

from ganeti_tx.model.hypervisors.lxc import LxcParams
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec, NicSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.lxc.layout import container_layout
from ganeti_tx.test.lab.case import CAMPAIGN_VARIABLE
from ganeti_tx.test.lab.cloud import BEFORE, EC2, NOCLOUD, cloud_disk
from ganeti_tx.test.lab.kept import LabFailed
from ganeti_tx.test.metad.guest import KEY
from ganeti_tx.test.real.lxc_node import LxcNode, why_not
from ganeti_tx.test.real.metadata_guests import run
from ganeti_tx.test.real.metadata_node import MetadataNode

BRIDGE = "gtxcloudbr"
ADDRESS = "198.51.100.7"
USER_DATA = """#cloud-config
write_files:
- {path: /etc/wanted, content: "as asked for\\n"}
runcmd:
- touch /etc/run-at-last
"""
#: Seconds for a container on a busy machine.
LIMIT = 300.0


class CloudImageTests(TestCase):
    """cloud-init itself, with the sources that clouds' images have."""

    timeout = 900
    if not os.environ.get(CAMPAIGN_VARIABLE):
        skip = "takes minutes; 'bin/lab campaign' runs it"
    elif (obstacle := why_not()) is not None:
        skip = obstacle

    def setUp(self) -> None:
        self.lxc = LxcNode()
        self.addCleanup(self.lxc.clear)
        self.node = MetadataNode(self.lxc.top, {"lxc": self.lxc.driver()})
        self.addCleanup(self.node.end, signal.SIGTERM)
        self.patch(os, "environ", self.node.environment)
        self.name = "cloud1.example.com"

    async def booted(self, source: str, nics: list[NicSpec]) -> Path:
        """Start it, have its node tell it of itself, and wait until it has set itself up; where its root is."""
        disk = self.lxc.top / "disk"
        try:
            cloud_disk(disk, source, f"eth{len(nics) - 1}")
        except LabFailed as error:
            raise SkipTest(str(error)) from None
        spec = self.spec(nics)
        driver = self.lxc.driver()
        await driver.start(
            spec, [AttachedDisk(DiskSpec(uuid="d0", dev_type="file", size=1, logical_id=None, index=0), str(disk))]
        )
        await self.node.metadata.tell(spec)
        root = container_layout(self.lxc.paths, self.name).root
        deadline = time.monotonic() + LIMIT
        while not (root / "done").exists():
            if time.monotonic() > deadline:
                self.fail(f"not done: {self.said(root)}")
            untyped: Any = reactor
            await deferLater(untyped, 1.0)
        return root

    def said(self, root: Path) -> str:
        """What cloud-init has to say."""
        found = [root / "var/log/steps", root / "var/log/cloud-init.log"]
        return "\n".join(path.read_text(errors="replace")[-6000:] for path in found if path.exists())

    def spec(self, nics: list[NicSpec]) -> InstanceSpec:
        """The instance."""
        return InstanceSpec(
            name=self.name,
            uuid="6fd3c3f2-8f7b-4a55-9d15-0a6f3c4c7d01",
            primary_node="node1",
            hypervisor="lxc",
            os="debian",
            hvparams=msgspec.to_builtins(LxcParams()),
            beparams={"maxmem": 512, "minmem": 512, "vcpus": 1},
            nics=nics,
            osparams={
                "ssh_authorized_keys": KEY,
                "user_data": "base64:" + base64.b64encode(USER_DATA.encode()).decode(),
            },
        )

    @property
    def communication(self) -> NicSpec:
        """By which it asks."""
        return NicSpec(
            uuid="n9",
            mac="52:54:00:77:00:09",
            mode="routed",
            link="communication_rt",
            ip="169.254.77.9",
            communication=True,
        )

    def check(self, root: Path) -> None:
        """Name, key and instructions are there; and cloud-init says where it has them from."""
        name = (root / "etc/hostname").read_text().strip()
        self.assertNotEqual(name, BEFORE)
        self.assertEqual(name, "cloud1", self.said(root))
        self.assertIn(KEY, (root / "home/debian/.ssh/authorized_keys").read_text(), self.said(root))
        self.assertEqual((root / "etc/wanted").read_text(), "as asked for\n")
        self.assertTrue((root / "etc/run-at-last").exists())
        record = os.environ.get("GANETI_CLOUD_LOG")
        if record:
            with Path(record).open("a") as file:
                file.write(f"{self.id()}\n{self.said(root)}\n{self.shown()}\n")

    def shown(self) -> str:
        """What the machine has."""
        layout = container_layout(self.lxc.paths, self.name)
        inside = ["lxc-attach", "-P", str(layout.above), "-n", self.name, "--"]
        words = "cat /etc/hostname /home/debian/.ssh/authorized_keys /etc/wanted; ip -4 -o address; cloud-init status --long"
        done = subprocess.run([*inside, "sh", "-c", words], capture_output=True, text=True, timeout=60, check=False)
        return done.stdout + done.stderr

    async def test_ec2(self) -> None:
        """As in Amazon's cloud, by its one interface, whose address it gets by DHCP."""
        self.check(await self.booted(EC2, [self.communication]))

    async def test_nocloud(self) -> None:
        """By a URL; the interface to the world gets its address from there, too."""
        run("ip", "link", "add", BRIDGE, "type", "bridge")
        self.addCleanup(run, "ip", "link", "delete", BRIDGE)
        network = {"name": "public", "uuid": "w0", "network": "198.51.100.0/24", "gateway": "198.51.100.1", "tags": []}
        public = NicSpec(
            uuid="n8", mac="aa:00:00:77:00:08", mode="bridged", link=BRIDGE, ip=ADDRESS, network="w0", netinfo=network
        )
        root = await self.booted(NOCLOUD, [public, self.communication])
        self.check(root)
        shown = self.shown()
        self.assertRegex(shown, rf"eth0 +inet {ADDRESS}/24", self.said(root))
        self.assertIn("eth1    inet 169.254.77.9/16", shown)
