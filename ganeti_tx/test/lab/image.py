"""What every machine is booted from: a kernel, and the disk image of a Debian with the tools of a node."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from attrs import frozen

from ganeti_tx.test.lab.kept import LabFailed, done, kept
from ganeti_tx.test.real.bare_root import apt_sources, local_settings_of_apt

CHECKOUT = Path(__file__).parents[3]
MAKE_GUEST = CHECKOUT / "etc" / "os" / "busybox"
FINISH = Path(__file__).with_name("finish-image.sh")
#: Emulation in software; what is translated takes a GiB of memory otherwise (MiB).
EMULATION = "tcg,tb-size=256"
SUITE = "bookworm"
PACKAGES = (
    "systemd,systemd-sysv,dbus,udev,kmod,procps,busybox-static,openssh-server,openssh-client,python3,socat,"
    "iproute2,iputils-ping,iputils-arping,fping,lvm2,thin-provisioning-tools,drbd-utils,e2fsprogs,"
    "qemu-system-x86,qemu-utils,lxc,apparmor,fdisk"
)
LEFT_OUT = ("doc", "man", "locale", "info", "lintian")


@frozen
class Image:
    """The files of one image."""

    directory: Path

    processors: ClassVar[int] = 1

    @property
    def kernel(self) -> Path:
        """As QEMU boots it without a BIOS."""
        return self.directory / "vmlinux"

    @property
    def initrd(self) -> Path:
        """Loads the drivers of the disks and goes on from the first one."""
        return self.directory / "initrd.img"

    def boot_options(self, words: str) -> Sequence[str]:
        """What QEMU is told of the machine itself, with words for the kernel's command line."""
        kernel = ["-kernel", str(self.kernel), "-initrd", str(self.initrd), "-append", f"console=ttyS0 {words}"]
        return ["-machine", "q35", "-accel", EMULATION, "-cpu", "max", *kernel]

    @property
    def root(self) -> Path:
        """An ext4 file system, never written to: every machine has a layer of its own over it."""
        return self.directory / "root.ext4"

    @property
    def key(self) -> Path:
        """The private SSH key whose owner is root on every machine, and that every machine has itself."""
        return self.directory / "id_ed25519"


def image(told: Callable[[str], object] = lambda _line: None) -> Image:
    """The image, made if need be, which takes some two minutes. @raise LabFailed: it cannot be made.

    @param told: gets a line before something is done that takes long.
    """
    return Image(kept("image", ingredients(), lambda directory: make(directory, told)))


def ingredients() -> list[bytes]:
    """What an image is made of."""
    files = [FINISH, *sorted(path for path in MAKE_GUEST.rglob("*") if path.is_file())]
    return [SUITE.encode(), PACKAGES.encode(), *(path.read_bytes() for path in files)]


def make(directory: Path, told: Callable[[str], object]) -> None:
    """Fill an empty directory."""
    told("Making the image of the lab's machines (some two minutes, this once) ...")
    guest = directory / "guest"
    done([str(MAKE_GUEST / "make-guest"), str(guest)])
    for name in ("vmlinux", "initrd.img", "vmlinuz"):
        (guest / name).rename(directory / name)
    root = directory / "root"
    debian(root, PACKAGES)
    done(["bash", str(FINISH), str(directory), str(guest)])
    shutil.rmtree(guest)
    shutil.rmtree(root)


def debian(root: Path, packages: str = PACKAGES) -> None:
    """A Debian with its packages in a directory; from where this machine has its own."""
    sources = [str(path) for path in apt_sources()]
    if not sources:
        raise LabFailed(f"this machine's apt has no sources of Debian's {SUITE}")
    options = [f"--dpkgopt=path-exclude=/usr/share/{each}/*" for each in LEFT_OUT]
    options += [f"--setup-hook=copy-in {each} /etc/apt/apt.conf.d" for each in local_settings_of_apt()]
    done(
        ["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", "--format=directory", f"--include={packages}",
         "--dpkgopt=force-unsafe-io", '--aptopt=Apt::Install-Recommends "0"', *options, SUITE, str(root), *sources]
    )  # fmt: skip
