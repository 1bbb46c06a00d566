"""Brings a minor to what a disk says it is, from whatever it is set up as."""

from attrs import frozen

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.host_port import host_port
from ganeti_tx.node.storage.drbd import command
from ganeti_tx.node.storage.drbd.kernel import Kernel
from ganeti_tx.node.storage.drbd.mirror import Mirror
from ganeti_tx.node.storage.drbd.show import Shown
from ganeti_tx.node.storage.interfaces import Below


@frozen
class SettingUp:
    """A minor that has our own volumes is taken over; another is taken down if nobody uses it, or nothing is done."""

    kernel: Kernel

    async def takes_over(self, mirror: Mirror, below: Below) -> bool:
        """Whether the minor is this disk's already; it is free afterwards if not.

        @raise BlockDeviceError: it is somebody else's who has it in use, and stays.
        """
        shown = await self.kernel.shown()
        ours = next((each for each in shown if is_ours(each, mirror, below)), None)
        for each in shown:
            if each is not ours and each.resource != (ours and ours.resource) and _is_in_the_way(each, mirror, below):
                await self._take_down(mirror, each)
        return ours is not None

    async def _take_down(self, mirror: Mirror, other: Shown) -> None:
        role_said = await self.kernel.tried(command.secondary_argv(other.minor))
        said = role_said or await self.kernel.tried(command.down_argv(other.resource))
        if said:
            what = f"minor {other.minor} is set up with {other.disk or 'no disk'} and peer {_name(other.peer)}"
            raise BlockDeviceError(f"{mirror.label}: {what}, and cannot be taken down: {said}")

    async def complete(self, mirror: Mirror, below: Below) -> None:
        """Set up what is missing."""
        shown = await self.kernel.shown_as(mirror.minor)
        if shown is None:
            await self.kernel.do(mirror.label, command.new_resource_argv(mirror))
            await self.kernel.do(mirror.label, command.new_minor_argv(mirror))
        if below and (shown is None or shown.disk is None):
            await self.attach(mirror, below)
        elif shown is not None and shown.disk is not None:
            await self.kernel.do(mirror.label, command.disk_options_argv(mirror))
        if not (shown is not None and self._is_connected(shown, mirror)):
            await self.connect(mirror, both_primary=False)

    async def attach(self, mirror: Mirror, below: Below) -> None:
        """Give it its own part."""
        data, meta = below
        if mirror.size > data.size:
            raise BlockDeviceError(f"{mirror.label} has {mirror.size} MiB, and {data.dev_path} only {data.size}")
        await self.kernel.attach(mirror, data.dev_path, meta.dev_path, mirror.size)

    async def connect(self, mirror: Mirror, both_primary: bool, discard: bool = False) -> None:
        """Look for the other side, unless it does; with `discard` anew in any case."""
        shown = await self.kernel.shown_as(mirror.minor)
        if not discard and shown is not None and self._is_connected(shown, mirror):
            if shown.two_primaries != both_primary:
                argv = command.two_primaries_argv(mirror, both_primary)
                await self.kernel.do(f"{mirror.label}: two primary sides", argv)
            return
        await self.disconnect(mirror)
        await self.kernel.connect(mirror, both_primary, discard)

    async def disconnect(self, mirror: Mirror) -> None:
        """Wherever it is connected to."""
        shown = await self.kernel.shown_as(mirror.minor)
        if shown is None or shown.local is None or shown.peer is None:
            return
        argv = command.disconnect_argv(shown.local, shown.peer)
        await self.kernel.do(f"{mirror.label} cannot part from {_name(shown.peer)}", argv)

    def _is_connected(self, shown: Shown, mirror: Mirror) -> bool:
        """Or would be, if the other side were there."""
        known = mirror.secret is None or shown.secret == mirror.secret
        return (shown.local, shown.peer) == (mirror.local, mirror.peer) and known


def is_ours(shown: Shown, mirror: Mirror, below: Below) -> bool:
    """Whether a minor that is set up is a disk's: by name and number, upon its volumes or none."""
    if (shown.resource, shown.minor) != (mirror.resource, mirror.minor):
        return False
    paths = tuple(each.dev_path for each in below)
    if shown.disk is None:
        return shown.peer in (None, mirror.peer)
    return not paths or (shown.disk, shown.meta) == paths


def has_other_port(shown: Shown | None, mirror: Mirror) -> bool:
    """Whether a minor is connected as another disk's."""
    return shown is not None and shown.local is not None and shown.local[1] != mirror.local[1]


def _is_in_the_way(shown: Shown, mirror: Mirror, below: Below) -> bool:
    """Whether it has our minor or our name, or one of our volumes."""
    paths = {each.dev_path for each in below}
    return shown.minor == mirror.minor or shown.resource == mirror.resource or bool(paths & {shown.disk, shown.meta})


def _name(end: tuple[str, int] | None) -> str:
    return "none" if end is None else host_port(*end)
