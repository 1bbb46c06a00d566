"""An image that is started from its disk, has an address by DHCP, and runs a program of `etc/image`."""

import shutil
import subprocess
from pathlib import Path

from ganeti_tx.test.lab.cloud import mounted
from ganeti_tx.test.lab.kept import done
from ganeti_tx.test.real.guest import BUSYBOX_OS, CACHE, ROOT

SIZE = 64 << 20
#: As the boot loader reads it; Linux mounts it as ext4 all the same.
KIND = "ext2"
BOOT = """SERIAL 0 38400
DEFAULT image
LABEL image
  KERNEL vmlinuz
  INITRD initrd.img
  APPEND console=ttyS0 root=/dev/vda ro quiet
"""
INIT = """#!/bin/busybox sh
export PATH=/bin
mount -t tmpfs tmpfs /tmp
for nic in /sys/class/net/*; do
    case $(cat "$nic/address") in
        52:54:00:*) ip link set "${nic##*/}" up && udhcpc -q -n -i "${nic##*/}" -s /bin/use-address ;;
    esac
done
exec /bin/image-program
"""
USE_ADDRESS = """#!/bin/busybox sh
[ "$1" != bound ] || ip address add "$ip/$mask" dev "$interface"
"""


def make_image(path: Path, work: Path, program: str) -> None:
    """Make it. @param program: that is run. @param work: an empty directory. @raise LabFailed: it cannot be made."""
    done([str(BUSYBOX_OS / "make-guest"), str(CACHE)])
    for directory in ("bin", "sbin", "boot", "dev", "proc", "sys", "tmp"):
        (work / directory).mkdir()
    busybox = str(shutil.which("busybox"))
    shutil.copy(busybox, work / "bin/busybox")
    for name in subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split():
        if name != "busybox":
            (work / "bin" / name).symlink_to("busybox")
    programs = {
        "sbin/init": INIT,
        "bin/use-address": USE_ADDRESS,
        "bin/image-program": (ROOT / "etc/image" / program).read_text(),
    }
    for name, text in programs.items():
        (work / name).write_text(text)
        (work / name).chmod(0o755)
    for name in ("vmlinuz", "initrd.img"):
        shutil.copy(CACHE / name, work / "boot" / name)
    (work / "boot/extlinux.conf").write_text(BOOT)
    with path.open("wb") as file:
        file.truncate(SIZE)
    done(["mke2fs", "-q", "-F", "-t", KIND, "-d", str(work), str(path)])
    with mounted(path) as root:
        done(["extlinux", "--install", str(root / "boot")])
