"""What the scripts of the provider `iscsi` do by other programs, which are played, and what they leave when one fails."""

import os
import shutil
import subprocess
from pathlib import Path
from unittest import SkipTest

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.node.storage.ext.provider import read_provider
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.shipped import shipped
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.loop_devices import attach, detach

MIB = 1 << 20
#: A machine on which no directory is a link.
LOOK = '[ "${*#*readlink}" = "$*" ] || echo "${*##* }"\n'
#: The target is there, and somebody is connected until he logs out.
TGTADM = """#!/bin/sh
case $* in
*"--op show --mode target") echo "Target 1: iqn.2008-11.org.ganeti:u.disk0" ;;
*"--op show --mode conn"*) grep -q logout {told} || echo "Session: 1" ;;
esac
"""


class CommandTests(SynchronousTestCase):
    """Programs that this machine need not have are played by one that tells what it was given."""

    def setUp(self) -> None:
        self.root = Path(os.path.realpath(self.mktemp()))
        (self.root / "bin").mkdir(parents=True)
        self.device = self.root / "ip-192.0.2.10:3260-iscsi-iqn.2008-11.org.ganeti:u.disk0-lun-1"
        for name in ("iscsiadm", "ssh", "blockdev"):
            program = self.root / "bin" / name
            program.write_text(f'#!/bin/sh\necho "{name} $*" >> {self.root}/told\n{LOOK}[ "$*" = "${{*%--rescan}}" ]\n')
            program.chmod(0o755)
        self.provider = self.root / "iscsi"
        shutil.copytree(shipped("extstorage/iscsi"), self.provider)

    def run_script(self, script: str, **params: str) -> tuple[int, str, list[str]]:
        """How it ends, what it prints, and what was run."""
        told = self.root / "told"
        told.unlink(missing_ok=True)
        environment = {
            "PATH": f"{self.root}/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "VOL_NAME": "u.disk0",
            "VOL_NEW_SIZE": "16",
            "VOL_SIZE": "8",
            "BY_PATH": str(self.root),
            "DEVICE_LIMIT": "0",
            "USE_LIMIT": "0",
            "EXTP_PORTAL": "192.0.2.10",
            **{f"EXTP_{name.upper()}": value for name, value in params.items()},
        }
        ended = subprocess.run(
            [str(self.provider / script)], env=environment, capture_output=True, text=True, check=False
        )
        self.said = ended.stderr
        return ended.returncode, ended.stdout, told.read_text().splitlines() if told.exists() else []

    def program(self, name: str, *lines: str) -> None:
        """Let one, which tells what it was given, do something."""
        path = self.root / "bin" / name
        path.write_text("\n".join(["#!/bin/sh", f'echo "{name} $*" >> {self.root}/told', *lines, ""]))
        path.chmod(0o755)

    def words(self, told: list[str]) -> list[str]:
        """What iscsiadm was given, behind the name of the target."""
        return [line.partition("3260")[2].strip() for line in told if line.startswith("iscsiadm")]

    def test_not_attached(self) -> None:
        """Of an attachment that fails no session and no record is left, unless other disks may need them."""
        (self.provider / "portals").write_text("192.0.2.10\n")
        (self.provider / "targets").write_text("192.0.2.10 iqn.x:y\n")
        given = {"target": "iqn.x:y", "lun": "0"}
        self.program("iscsiadm", 'case $* in *--rescan | *--login | *--logout) echo "no luck" >&2; exit 8 ;; esac')
        status, _, told = self.run_script("attach")
        tried, gone = ["--rescan", "--op new", "--login", "--rescan"], ["", "--logout", "--op delete"]
        self.assertEqual((status, self.words(told)), (1, tried + gone))
        self.assertIn("cannot log in to iqn.2008-11.org.ganeti:u.disk0 at 192.0.2.10:3260", self.said)
        status, _, told = self.run_script("attach", **given)
        self.assertEqual((status, self.words(told)), (1, tried))
        self.program("iscsiadm", "case $* in *--rescan) exit 21 ;; esac")
        status, _, told = self.run_script("attach")
        self.assertEqual((status, self.words(told)), (1, [*tried[:3], *gone]))
        self.assertIn("does not appear", self.said)
        self.program("iscsiadm")
        self.assertEqual(self.words(self.run_script("attach")[2]), ["--rescan"], "it was there before")

    def test_attached_at_once(self) -> None:
        """Two LUNs of one target that are attached at the same time both are."""
        (self.provider / "targets").write_text("192.0.2.10 iqn.x:y\n")
        device = attach(self.root / "volume", 8)
        self.addCleanup(detach, device)
        (self.root / "ip-192.0.2.10:3260-iscsi-iqn.x:y-lun-0").symlink_to(device)
        lines = "case $* in *--login) exit 15 ;; *--rescan) grep -q login {0}/told || exit 21 ;; esac"
        self.program("iscsiadm", lines.format(self.root))
        self.assertEqual(self.run_script("attach", target="iqn.x:y", lun="0")[0], 0)

    def test_half_made(self) -> None:
        """What was made before something failed goes; nothing does if nobody can tell whether it was there."""
        self.allow()
        at_store = {"pool": "/srv/disks", "initiators": "192.0.2.1", "host": "store"}
        look = 'case $* in *readlink*) echo "${*##* }" ;;'
        for fault in ("truncate", "new --mode target", "new --mode logicalunit", "--op bind", "tee"):
            self.program("ssh", f'{look} *"{fault}"*) exit 1 ;; esac')
            status, _, told = self.run_script("create", **at_store)
            self.assertEqual(status, 1, fault)
            kept = "/etc/tgt/conf.d/ganeti-u.disk0.conf"
            self.assertTrue(told[-1].endswith(f"rm -f /srv/disks/u.disk0 {kept}"), (fault, told))
            deleted = any("--op delete --mode target --tid 1 --force" in line for line in told)
            self.assertEqual(deleted, fault not in ("truncate", "new --mode target"))
        for fault in ("show --mode target", "test"):
            self.program("ssh", f'{look} *"{fault}"*) exit 255 ;; esac')
            status, _, told = self.run_script("create", **at_store)
            self.assertNotEqual(status, 0)
            self.assertIn(fault, told[-1], "nothing came after that")

    def test_half_grown(self) -> None:
        """A target whose LUN could not be offered again is offered it once more, and else it is said how it is."""
        self.allow()
        at_store = {"pool": "/srv/disks", "initiators": "192.0.2.1", "host": "store", "kernel": "no"}
        look = 'case $* in *readlink*) echo "${*##* }" ;; *"show --mode target") echo "Target 7: iqn.2008-11.org.ganeti:u.disk0" ;;'
        again = "tgtadm -C 0 --lld iscsi --op new --mode logicalunit --tid 7 --lun 1 --backing-store /srv/disks/u.disk0"
        for times, way in ((1, False), (2, True)):
            self.program(
                "ssh", f'{look} *"new --mode"*) [ $(grep -c "new --mode" {self.root}/told) -gt {times} ] ;; esac'
            )
            status, _, told = self.run_script("grow", **at_store)
            self.assertEqual((status, [again in line for line in told].count(True)), (1, 2))
            self.assertEqual(
                f"has lost its LUN; when tgt answers again on store, give it back by: {again}\n" in self.said, way
            )
        self.program("ssh", f'{look} *"show --mode conn"*) exit 255 ;; esac')
        status, _, told = self.run_script("grow", **at_store)
        self.assertTrue(status != 0 and "conn" in told[-1], "nobody knows who is connected")

    def test_attach(self) -> None:
        """The kernel logs in, and its device is printed with what QEMU opens."""
        loops = sorted(Path("/dev").glob("loop[0-9]*"))
        if not loops:
            raise SkipTest("there is no block device to be shown")
        self.device.symlink_to(loops[0])  # a block device; it is not opened
        self.assertEqual(self.run_script("attach"), (1, "", []))
        (self.provider / "portals").write_text("192.0.2.10\n")
        node = "iscsiadm --mode node --targetname iqn.2008-11.org.ganeti:u.disk0 --portal 192.0.2.10:3260"
        status, printed, told = self.run_script("attach")
        self.assertEqual(told, [f"{node} --rescan", f"{node} --op new", f"{node} --login"])
        uri = "KVM:iscsi://192.0.2.10:3260/iqn.2008-11.org.ganeti:u.disk0/1"
        self.assertEqual((status, printed.splitlines()), (0, [str(self.device), uri]))

    def test_identity(self) -> None:
        """A LUN that is there already is known by its target, whatever portal leads there."""
        files = RealFiles(InlineThreads())
        self.assertEqual(read_provider(files, shipped("extstorage/iscsi")).identity, ("target", "lun"))

    def test_detach(self) -> None:
        """It logs out of a target of the disk's own that nothing has open; other LUNs of one that was given may be in use."""
        node = "iscsiadm --mode node --targetname iqn.2008-11.org.ganeti:u.disk0 --portal 192.0.2.10:3260"
        self.assertEqual(self.run_script("detach")[2], [node, f"{node} --logout", f"{node} --op delete"])
        device = attach(self.root / "volume", 8)
        self.addCleanup(detach, device)
        self.device.symlink_to(device)
        with open(device, "rb"):
            self.assertEqual(self.run_script("detach"), (1, "", []))
            self.assertIn(f"something on this node has {self.device} open", self.said)
        self.assertEqual(self.run_script("detach")[2], [node, f"{node} --logout", f"{node} --op delete"])
        self.device.unlink()
        self.assertEqual(self.run_script("detach", target="iqn.x:y", lun="0"), (0, "", []))
        self.assertEqual(self.run_script("detach", kernel="no"), (0, "", []))

    def test_grow(self) -> None:
        """The kernel has the device when it is to grow: it leaves the target meanwhile, unless something has it open."""
        self.allow()
        device = attach(self.root / "volume", 8)
        self.addCleanup(detach, device)
        self.device.symlink_to(device)
        (self.root / "bin/tgtadm").write_text(TGTADM.format(told=self.root / "told"))
        (self.root / "bin/tgtadm").chmod(0o755)
        grow = {"kernel": "yes", "pool": str(self.root), "conf": str(self.root), "initiators": "192.0.2.1"}
        (self.provider / "directories").write_text(f"pool {self.root}\nconf {self.root}\n")
        with open(device, "rb"):
            self.assertEqual(self.run_script("grow", **grow), (1, "", []))
        status, _, told = self.run_script("grow", **grow)
        self.assertEqual(status, 0)
        (size,) = {path.stat().st_size for path in self.root.glob("u.disk0")}
        self.assertEqual(size, 16 * MIB)
        words = [line.rpartition(" --")[2] for line in told if line.startswith("iscsiadm")]
        self.assertEqual(words, ["portal 192.0.2.10:3260", "logout", "op delete", "rescan", "op new", "login"])

    def allow(self, hosts: str = "store\n") -> None:
        """What the administrator writes."""
        (self.provider / "directories").write_text("pool /srv/disks\n")
        (self.provider / "hosts").write_text(hosts)
        (self.provider / "portals").write_text("192.0.2.10\n")

    def test_hosts(self) -> None:
        """No machine is reached by ssh that the administrator has not listed, as it is written; nor any without a list."""
        at_store = {"pool": "/srv/disks", "initiators": "192.0.2.1", "host": "store"}
        for script in ("create", "grow", "remove", "verify"):
            self.allow(hosts="store.example.com\nSTORE\n st.re\n")
            self.assertEqual(self.run_script(script, **at_store), (1, "", []))
            (self.provider / "hosts").unlink()
            self.assertEqual(self.run_script(script, **at_store), (1, "", []))

    def test_elsewhere(self) -> None:
        """What is done to targets of another machine is done there."""
        self.allow()
        _, _, told = self.run_script("remove", host="store", pool="/srv/disks", initiators="192.0.2.1")
        ssh = "ssh -o BatchMode=yes -o ConnectTimeout=30 root@store --"
        look = [f"{ssh} readlink -e {path}" for path in ("/srv/disks", "/etc/tgt/conf.d")]
        show = f"{ssh} tgtadm -C 0 --lld iscsi --op show --mode target"
        kept = "/etc/tgt/conf.d/ganeti-u.disk0.conf"
        self.assertEqual(told, [*look, show, f"{ssh} rm -f /srv/disks/u.disk0 {kept}"])

    def test_out_of_reach(self) -> None:
        """A machine that cannot be reached is no place where nothing is."""
        self.allow()
        (self.root / "bin/ssh").write_text("#!/bin/sh\nexit 255\n")
        status, _, _ = self.run_script("remove", host="store", pool="/srv/disks", initiators="192.0.2.1")
        self.assertEqual(status, 1)
