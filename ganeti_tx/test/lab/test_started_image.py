"""A whole cluster of one node with QEMU, whose instance installs itself, or fills its free space, started from an image."""

import os
import shutil
from pathlib import Path
from tempfile import mkdtemp

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.test.lab.case import CAMPAIGN_VARIABLE
from ganeti_tx.test.lab.cloud import mounted
from ganeti_tx.test.lab.kept import LabFailed, done
from ganeti_tx.test.lab.started_image import make_image
from ganeti_tx.test.real.programs import SmallCluster

SECRET = "open-sesame"
CREATE = """#!/bin/sh
echo "installing $INSTANCE_NAME, which tastes of $OSP_FLAVOUR, with $OSP_PASSWORD"
echo "$INSTANCE_NAME $OSP_FLAVOUR" > "$DISK_0_PATH"
[ "$OSP_FLAVOUR" != sour ] || exit 3
"""
EXPORT = '#!/bin/sh\nexec cat "$EXPORT_DEVICE"\n'
#: What a file that is gone has left on a disk.
LEFT = b"left by a file that is gone "
#: The programs of images, and the cluster's settings that name these.
IMAGES = {"install": "install-image", "zero": "zeroing-image"}
ADD = (
    "gnt-instance add -t file -o strange -H kvm:kernel_path= -B memory=256M,vcpus=1 --no-nics --ignore-ipolicy --no-start"
    " --no-name-check --no-ip-check"
)


class StartedImageTests(SynchronousTestCase):
    """With a network of instance communication, a metadata daemon, and a machine that QEMU emulates."""

    timeout = 1200
    if not os.environ.get(CAMPAIGN_VARIABLE):
        skip = "takes minutes; 'bin/lab campaign' runs it"
    elif os.geteuid() != 0:
        skip = "only root makes taps and images"

    def setUp(self) -> None:
        if missing := [program for program in ("extlinux", "qemu-system-x86_64") if shutil.which(program) is None]:
            raise SkipTest(f"missing: {', '.join(missing)}")
        self.top = Path(mkdtemp(prefix="im", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.top)
        self.cluster = SmallCluster()
        self.addCleanup(self.cluster.close)
        self.cluster.init("kvm")
        self.add_os()
        self.cluster.must("gnt-cluster", "modify", "--instance-communication-network=mesh")

    def image(self, program: str) -> None:
        """The cluster has an image with this program of `etc/image`."""
        path, tree = self.top / f"{program}.img", self.top / "tree"
        tree.mkdir()
        try:
            make_image(path, tree, program)
        except LabFailed as error:
            raise SkipTest(str(error)) from None
        self.cluster.must("gnt-cluster", "modify", f"--{IMAGES[program]}={path}")

    def add_os(self) -> None:
        """An OS whose script no node runs."""
        place = self.cluster.node.root / "srv/ganeti/os/strange"
        place.mkdir(parents=True)
        (place / "ganeti_api_version").write_text("20\n")
        (place / "parameters.list").write_text("flavour what it tastes of\npassword of root\n")
        for name in ("create_untrusted", "export", "import", "rename", "verify"):
            (place / name).write_text({"create_untrusted": CREATE, "export": EXPORT}.get(name, "#!/bin/sh\n"))
            (place / name).chmod(0o755)

    def disks(self) -> list[Path]:
        """All that are there."""
        return sorted((self.cluster.node.root / "srv/ganeti/file-storage").rglob("*.file.*"))

    def test_install(self) -> None:
        """What the script writes is on the disk; one that fails says so, without its secret; and nothing else is left."""
        self.image("install")
        asked = [*ADD.split(), "-s", "1G", "-n", self.cluster.node.name, "--os-parameters-secret", f"password={SECRET}"]
        said = self.cluster.must(*asked, "-O", "flavour=mint", "web1.example.com")
        self.assertNotIn(SECRET, said)
        (disk,) = self.disks()
        with disk.open("rb") as file:
            self.assertEqual(file.readline(), b"web1.example.com mint\n")
        failed = self.cluster.programs.run(self.cluster.node, *asked, "-O", "flavour=sour", "web2.example.com")
        told = failed.stdout + failed.stderr
        self.assertEqual(failed.returncode, 1, told)
        self.assertIn("which tastes of sour, with <redacted>; exit status 3", told)
        self.assertEqual(self.disks(), [disk])
        self.assertEqual(self.cluster.must("gnt-instance", "list", "--no-headers", "-o", "name"), "web1.example.com\n")

    def test_zero(self) -> None:
        """What was in the free space of a file system is gone from the disk; what is in files is there."""
        self.image("zero")
        node = self.cluster.node.name
        self.cluster.must(*ADD.split(), "-s", "64M", "-n", node, "--no-install", "web1.example.com")
        (disk,) = self.disks()
        done(["mke2fs", "-q", "-F", "-t", "ext4", str(disk), "64M"])
        for name, content in (("gone", LEFT * 400_000), ("kept", b"kept by its owner")):
            with mounted(disk) as root:
                (root / name).write_bytes(content)
        with mounted(disk) as root:
            (root / "gone").unlink()
        self.assertIn(LEFT, disk.read_bytes())
        self.cluster.must("gnt-backup", "export", "--zero-free-space", "-n", node, "web1.example.com")
        self.assertEqual(disk.read_bytes().count(LEFT), 0)
        with mounted(disk) as root:
            self.assertEqual((root / "kept").read_bytes(), b"kept by its owner")
        self.assertEqual(self.disks(), [disk])
