"""What machines under Xen are booted from: Xen, the kernel of its first domain, and a Debian with its tools."""

from collections.abc import Callable, Sequence
from pathlib import Path
from shutil import rmtree
from typing import ClassVar

from attrs import frozen

from ganeti_tx.test.lab.image import EMULATION, FINISH, MAKE_GUEST, SUITE, Image, debian
from ganeti_tx.test.lab.kept import done, kept

SOURCES = Path(__file__).with_name("xen")
PACKAGES = (
    "udev,kmod,procps,busybox-static,openssh-server,openssh-client,python3,socat,iproute2,iputils-ping,iputils-arping,fping,"
    "lvm2,drbd-utils,e2fsprogs,xen-utils-4.17,xen-utils-common,qemu-system-xen"
)
#: Xen's own words: the first domain keeps its memory, and the rest is for guests (MiB).
DOM0_MEMORY = 896
WORDS = (
    f"console=com1 com1=115200,8n1 dom0_mem={DOM0_MEMORY}M,max:{DOM0_MEMORY}M dom0_max_vcpus=1 loglvl=warning "
    "guest_loglvl=none no-real-mode spec-ctrl=no xpti=no watchdog=0"
)
#: By the init of machines. None has SMAP, with which the first domain dies at its first exception in emulation; the second has what
#: Xen wants for fully virtualised guests (SVM, nested pages).
CPUS = {"xen": "Nehalem", "xen-hvm": "Opteron_G3,+svm,+npt"}
#: The kernel and the initial RAM disk that guests are booted with, on each machine.
GUEST_KERNEL, GUEST_INITRD = "/boot/guest", "/boot/guest.img"
#: The disk that fully virtualised guests are booted from.
SECTOR = "/boot/sector"
ASSEMBLE = (
    *("gcc", "-m32", "-nostdlib", "-static", "-x", "assembler-with-cpp"),
    "-Wl,--oformat=binary,-Ttext=0x7c00,--build-id=none,-e,_start",
)


@frozen
class XenImage(Image):
    """Its kernel and initial RAM disk are the first domain's, which Xen starts."""

    #: One more than the first domain has, so that guests can be kept from its.
    processors: ClassVar[int] = 2

    cpu: str = CPUS["xen"]

    def boot_options(self, words: str) -> Sequence[str]:
        """See `Image`."""
        modules = f"{self.directory / 'vmlinuz'} console=hvc0 {words},{self.initrd}"
        kernel = ["-kernel", str(self.directory / "xen.elf"), "-initrd", modules, "-append", WORDS]
        return ["-machine", "pc", "-accel", EMULATION, "-cpu", self.cpu, *kernel]


def xen_image(told: Callable[[str], object] = lambda _line: None) -> XenImage:
    """The image, made if need be, which takes some three minutes. @raise LabFailed: it cannot be made."""
    return XenImage(kept("xen", ingredients(), lambda directory: make(directory, told)))


def ingredients() -> list[bytes]:
    """What an image is made of."""
    files = [FINISH, MAKE_GUEST / "make-guest", MAKE_GUEST / "initrd-init", *sorted(SOURCES.iterdir())]
    return [SUITE.encode(), PACKAGES.encode(), *(path.read_bytes() for path in files)]


def make(directory: Path, told: Callable[[str], object]) -> None:
    """Fill an empty directory."""
    told("Making the image of the lab's machines under Xen (some three minutes, this once) ...")
    guest = directory / "guest"
    done([str(MAKE_GUEST / "make-guest"), str(guest)])
    debian(directory / "root", PACKAGES)
    done([*ASSEMBLE, "-o", str(guest / "sector"), str(SOURCES / "sector.S")])
    inits = [str(MAKE_GUEST / "initrd-init"), str(SOURCES / "guest-init.sh")]
    done(["bash", str(SOURCES / "make-xen.sh"), str(directory), str(guest), *inits, SUITE])
    done(["bash", str(FINISH), str(directory), str(directory / "debs")])
    for each in (guest, directory / "root", directory / "debs"):
        rmtree(each)
