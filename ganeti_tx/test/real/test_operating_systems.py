"""A walk through a devcluster: operating systems with real scripts, and the same on all nodes."""

import json
import os
from pathlib import Path

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.devcluster.layout import DevNode
from ganeti_tx.test.inprocess import recorded
from ganeti_tx.test.real.devcluster import DevClusterUnderTest, commands_are_installed

NAME = "envdump"
FILES = {
    "ganeti_api_version": "20\n15\n",
    "variants.list": "default\ntesting\n",
    "parameters.list": "dhcp yes or no\nroot_size of the file system\n",
    "verify": '#!/bin/sh\n[ "$OSP_DHCP" != maybe ] || { echo "dhcp must be yes or no" >&2; exit 1; }\n',
    **dict.fromkeys(("create", "export", "import", "rename"), "#!/bin/sh\nexec env\n"),
}
#: What no Ganeti tells, but a shell or this program (design-2.1, "OS API changes").
OWN = {"PWD", "OLDPWD", "_", "SHLVL", "INSTANCE_HYPERVISOR"}
ADD = f"gnt-instance add -t file -s 4M --no-name-check --no-ip-check --no-nics --ignore-ipolicy -n node1 -o {NAME}+testing"


class WalkTests(SynchronousTestCase):
    """A cluster of two nodes that have a definition whose scripts print their environment."""

    def setUp(self) -> None:
        if not commands_are_installed():
            raise SkipTest("the commands are not beside this Python")
        self.cluster = DevClusterUnderTest(["--enabled-hypervisors=fake"], nodes=2)
        self.addCleanup(self.cluster.close)
        for node in self.cluster.layout.nodes:
            self.define(node)

    def define(self, node: DevNode) -> None:
        """Have the definition on a node."""
        directory = self.definition(node)
        directory.mkdir(parents=True)
        for name, text in FILES.items():
            (directory / name).write_text(text)
            (directory / name).chmod(0o755)

    def definition(self, node: DevNode) -> Path:
        """Where it is."""
        return node.root / "srv/ganeti/os" / NAME

    def refused(self, line: str, reason: str) -> None:
        """The command fails for this reason."""
        status, out, err = self.cluster.run(line.split())
        self.assertNotEqual(status, 0, out + err)
        self.assertIn(reason, err)

    def test_walk(self) -> None:
        """What is set reaches the scripts, and they are told what Ganeti's are."""
        ok = self.cluster.ok
        self.assertEqual(ok("gnt-os diagnose default").count(f"/{NAME}) [API versions: 20, 15]"), 2)
        self.refused(f"gnt-os modify -O dhcp=maybe {NAME}", "dhcp must be yes or no")
        ok(f"gnt-os modify -O dhcp=yes,root_size=1G {NAME}")
        limit = self.definition(self.cluster.layout.master) / "hypervisors"
        limit.write_text("xen-pvm\n")
        self.refused(f"{ADD} web1", "cannot be installed under hypervisor fake; allowed: xen-pvm")
        limit.write_text("xen-pvm\nfake\n")
        ok(f"{ADD} web1")
        self.assert_as_recorded()
        ok(f"gnt-os modify --blacklisted=yes {NAME}")
        self.refused(f"{ADD} web2", "is not allowed for installation")

    def assert_as_recorded(self) -> None:
        """The variables of Ganeti's create script, but for cards, which this instance has not."""
        (log,) = (self.cluster.layout.master.root / "var/log/ganeti/os").iterdir()
        told = {line.partition("=")[0] for line in log.read_text().splitlines()} - OWN
        facts = [fact for line in recorded.lines("os-environment.jsonl") for fact in line["scripts"]]
        (wanted,) = [
            set(fact["env"]) for fact in facts if fact["script"] == "create" and "OSP_ROOT_SIZE" in fact["env"]
        ]
        self.assertEqual(told, {name for name in wanted if not name.startswith("NIC_0")})

    def test_all_nodes(self) -> None:
        """Commands and files reach the other node; the configuration is shown without secrets."""
        ok = self.cluster.ok
        master, other = self.cluster.layout.nodes
        said = ok("gnt-cluster command -M echo $GANETI_HOSTNAME; exit 3")
        for node in (master, other):
            self.assertIn(f"{node.name}: {node.name}\nreturn code = 3\n", said)
        listed = "/usr/local/etc/vif"
        for path, text in ((listed, "script"), ("/etc/ganeti/distributed-files", f"{listed}\n/no/such\n")):
            file = master.root / path.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        (master.root / listed.lstrip("/")).chmod(0o750)
        self.assertIn("WARNING: file /no/such is not sent: No such file or directory", ok("gnt-cluster redist-conf"))
        copy = other.root / listed.lstrip("/")
        self.assertEqual((copy.read_text(), copy.stat().st_mode & 0o777), ("script", 0o750))
        copied = self.cluster.directory / "copied"
        copied.write_text("as it is")
        os.utime(copied, (1700000000, 1700000000))
        ok(f"gnt-cluster copyfile {copied}")  # to the same place, as both nodes are on this machine
        self.assertEqual((copied.read_text(), copied.stat().st_mtime), ("as it is", 1700000000))
        ok(f"gnt-os modify --os-parameters-private dhcp=s3cret {NAME}")
        shown = ok("gnt-cluster export-config")
        self.assertNotIn("s3cret", shown)
        self.assertEqual(json.loads(shown)["cluster"]["osparams_private_cluster"], {NAME: {"dhcp": ""}})
