"""For how long a guest stands still when it goes from one QEMU to another: what QEMU tells, and what its guest lets hear.

It takes minutes and wants a machine where little else runs, so it is left out of the usual run: with GANETI_LAB_PAGES set to a
directory it writes its page there.
"""

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

from attrs import frozen
from twisted.internet import reactor
from twisted.trial.unittest import SkipTest

from ganeti_tx.model.migration import MigrationProgress, MigrationState
from ganeti_tx.test.contracts.operations_page import grid
from ganeti_tx.test.lab.times import PAGES_VARIABLE
from ganeti_tx.test.node.hypervisor.kvm.parts import NAME
from ganeti_tx.test.real.kvm_node import SerialConsole
from ganeti_tx.test.real.migration_pairs import pairs
from ganeti_tx.test.real.test_kvm_disk_copies import SIZES, DiskCopyCase
from ganeti_tx.test.real.test_kvm_migration import HERE

PAGE = "down-times.rst"
HEAD = """\
For how long a guest stands still while it migrates
===================================================

Written by ``ganeti_tx/test/real/test_kvm_down_time.py`` (``GANETI_LAB_PAGES=doc``): a guest of 128 MiB goes from one QEMU to
another on the same machine, which emulates its processor in software. It counts every 10 ms on its serial console; the longest
silence between two numbers is what somebody who listens notices, the processor's emulation and the machine's other work included.
The down time is what QEMU tells of the guest's processors. With disks, {disks} MiB go along over NBD before; the total time is
that of the memory.

"""
COUNTING = b"i=0; while :; do echo tick $i; i=$((i+1)); usleep 10000; done"


@frozen
class Way:
    """One way of migrating."""

    title: str
    secret: bool = True
    live: bool = True
    disks: bool = False
    caps: str = ""


WAYS = (
    Way("in the clear", secret=False),
    Way("encrypted, as it is unless told otherwise"),
    Way("encrypted, not live", live=False),
    Way("encrypted, post-copy", caps="postcopy-ram"),
    Way("encrypted, with its disks", disks=True),
)


class HeardConsole(SerialConsole):
    """It knows when something was said."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[float] = []

    def dataReceived(self, data: bytes) -> None:
        """See `SerialConsole`."""
        clock: Any = reactor
        if b"tick" in data:
            self.times.append(clock.seconds())
        super().dataReceived(data)


class DownTimeTests(DiskCopyCase):
    """One guest after the other."""

    timeout = 900
    console_class = HeardConsole

    def setUp(self) -> Any:
        if not os.environ.get(PAGES_VARIABLE):
            raise SkipTest(f"it writes a page, where {PAGES_VARIABLE} says")
        return super().setUp()

    async def test_page(self) -> None:
        """Each way is gone, and is on the page."""
        rows = [["", "down time", "longest silence", "total time", "memory sent"]]
        for way in WAYS:
            progress, silence = await self.gone(way)
            rows.append(
                [
                    way.title,
                    f"{progress.downtime} ms",
                    f"{round(1000 * silence)} ms",
                    f"{(progress.total_time or 0) / 1000:.2f} s",
                    f"{(progress.transferred_ram or 0) >> 20} MiB",
                ]
            )
        page = Path(os.environ[PAGES_VARIABLE]) / PAGE
        page.write_text(HEAD.format(disks=sum(SIZES)) + "\n".join([*grid(rows), ""]))

    async def gone(self, way: Way) -> tuple[MigrationProgress, float]:
        """How it went, and the longest silence."""
        spec = self.spec(migration_caps=way.caps, migration_downtime=300)
        disks = self.disks(0) if way.disks else []
        await self.old.start(spec, disks)
        before: Any = await self.console(0)
        await before.wait_for(b"/ # ")
        before.type(COUNTING)
        await before.wait_for(b"tick 50\r")
        old, new = pairs() if way.secret else (None, None)
        there = self.disks(1) if way.disks else []
        info = await self.old.migration_info(spec)
        await self.new.accept(spec, there, info, HERE, new, disks_come=way.disks, source=HERE)
        after: Any = await self.console(1)
        if way.disks:
            await self.copies(spec)
        await self.old.send(spec, HERE, way.live, old, HERE)
        progress = await self.old.migration_progress(NAME, 0.5)
        while progress.status in (MigrationState.ACTIVE, MigrationState.POSTCOPY):
            progress = await self.old.migration_progress(NAME, 0.5)
        self.assertIs(progress.status, MigrationState.COMPLETED, progress.reason)
        await self.new.take_over(NAME)
        await after.wait_for(b"tick", times=20)
        await self.old.leave_source(NAME)
        await self.new.stop(NAME, 0.0, force=True)
        times = sorted([*before.times, *after.times])
        return progress, max(later - earlier for earlier, later in pairwise(times))
