"""An instance under QEMU goes to another node, with a directory of its own, together with the disks that only its node has."""

import os
import re

from twisted.trial.unittest import SkipTest

from ganeti_tx.test.lab.case import CAMPAIGN_VARIABLE
from ganeti_tx.test.nodes.cluster_case import SystemdClusterCase
from ganeti_tx.test.nodes.test_cluster import ADD, HAS_BOOTED
from ganeti_tx.test.real.guest import make_guest

NAME = "web1.example.com"
DIRECTORY = f"/srv/ganeti/file-storage/{NAME}"
SERIAL = f"/var/run/ganeti/kvm-hypervisor/ctrl/{NAME}.serial"
#: For the guest's shell, which is behind its serial console: what only the running guest has written, read from its disk.
WRITE = "mount -o remount,rw /; echo said-$((40+2)) > /told; sync; cat /told"
READ = "echo 3 > /proc/sys/vm/drop_caches; cat /told"
ASK = "(while sleep 2; do echo '{}'; done) | timeout 250 socat -t 250 - UNIX-CONNECT:{} | grep -m 1 said-42"


class DisksAlongTests(SystemdClusterCase):
    """With the commands that an administrator types."""

    def setUp(self) -> None:
        """@raise SkipTest: the campaign has this one."""
        if CAMPAIGN_VARIABLE not in os.environ:
            raise SkipTest(f"takes minutes; runs with {CAMPAIGN_VARIABLE}=1, as in bin/lab campaign")
        super().setUp()

    async def test_there_and_back(self) -> None:
        """Its guest runs on, reads what it wrote before, and no disk is left where it was; --cleanup finds nothing to do."""
        self.init(await make_guest())
        self.add_nodes()
        self.run_on(1, ADD)
        self.run_on(2, HAS_BOOTED)
        self.run_on(2, ASK.format(WRITE, SERIAL))
        for source, target in ((2, 3), (3, 2)):
            said = self.run_on(1, f"gnt-instance migrate -f --copy-disks -n node{target}.example.com {NAME}")
            self.assertRegex(said, re.compile("disks copied, 64 MiB"))
            self.check_status(1, "running")
            self.assertEqual(
                self.run_on(1, f"gnt-instance list --no-headers -o pnode {NAME}").strip(), f"node{target}.example.com"
            )
            self.run_on(target, ASK.format(READ, SERIAL))
            self.assertEqual(self.run_on(source, f"ls -A {DIRECTORY} 2>/dev/null || true"), "")
            self.assertEqual(self.run_on(source, "ps -eo comm= | grep qemu || true"), "")
        self.run_on(1, f"gnt-instance migrate -f --cleanup --copy-disks {NAME}")
        self.run_on(1, "gnt-cluster verify")
        self.run_on(1, f"gnt-instance remove -f --shutdown-timeout=0 {NAME}")
        for node in (2, 3):
            self.assertEqual(self.run_on(node, "find /srv/ganeti/file-storage -type f"), "")
