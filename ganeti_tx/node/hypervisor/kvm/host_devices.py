"""Devices and directories of the node that are opened here and handed to a QEMU that runs, which may not open them itself."""

import fcntl
import os
import socket
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zope.interface import Interface, implementer

from ganeti_tx.errors import HypervisorError

TUN_DEVICE = "/dev/net/tun"
VHOST_DEVICE = "/dev/vhost-net"
#: linux/if_tun.h: the request, and what is asked of a tap.
TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI, IFF_VNET_HDR, IFF_MULTI_QUEUE = 0x0002, 0x1000, 0x4000, 0x0100


class IHostDevices(Interface):
    """Opens devices. All methods raise OSError; whoever is given a descriptor closes it."""

    def is_block_device(path: str) -> bool:
        """Whether that is a device with blocks, and no file."""

    def open_disk(path: str, writable: bool) -> int:
        """A descriptor of a file or device."""

    def open_directory(path: Path) -> int:
        """A descriptor by which what is in a directory is reached, whoever may not go through those above it."""

    def open_listener(path: Path, mode: int) -> int:
        """A descriptor of a new socket at which others connect who may open such a file."""

    def open_tap(name: str, vnet_hdr: bool, multi_queue: bool) -> int:
        """A descriptor of a queue of a tap that is there."""

    def open_vhost() -> int:
        """A descriptor by which the kernel moves the packets of a tap."""


@implementer(IHostDevices)
class LinuxHostDevices:
    """The kernel's own."""

    def is_block_device(self, path: str) -> bool:
        """See `IHostDevices`."""
        return stat.S_ISBLK(Path(path).stat().st_mode)

    def open_disk(self, path: str, writable: bool) -> int:
        """See `IHostDevices`."""
        return os.open(path, (os.O_RDWR if writable else os.O_RDONLY) | os.O_CLOEXEC)

    def open_directory(self, path: Path) -> int:
        """See `IHostDevices`."""
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)

    def open_listener(self, path: Path, mode: int) -> int:
        """See `IHostDevices`."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(str(path))
            path.chmod(mode)
            listener.listen(1)
            return listener.detach()

    def open_tap(self, name: str, vnet_hdr: bool, multi_queue: bool) -> int:
        """See `IHostDevices`."""
        descriptor = os.open(TUN_DEVICE, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
        flags = IFF_TAP | IFF_NO_PI | (IFF_VNET_HDR if vnet_hdr else 0) | (IFF_MULTI_QUEUE if multi_queue else 0)
        try:
            fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH22x", name.encode(), flags))
        except OSError:
            os.close(descriptor)
            raise
        return descriptor

    def open_vhost(self) -> int:
        """See `IHostDevices`."""
        return os.open(VHOST_DEVICE, os.O_RDWR | os.O_CLOEXEC)


@contextmanager
def closing(descriptor: int) -> Iterator[int]:
    """A descriptor that is closed here in the end, whoever else has it then."""
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def opening(what: str) -> Iterator[None]:
    """Say of what the system refused to open it."""
    try:
        yield
    except OSError as error:
        raise HypervisorError(f"cannot open {what}: {error.strerror or error}")
