"""The page of what each hypervisor does; each test of a contract holds the cells to what it has found itself."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ganeti_tx.model.hypervisors import AVAILABLE
from ganeti_tx.test.contracts.operations_page import grid

PAGE = Path(__file__).parents[3] / "doc" / "hypervisors.rst"
HEAD = """\
What each hypervisor does
=========================

Each cell is written by the test of a contract (``ganeti_tx/test/contracts``) that has done it to an instance of that hypervisor, or
was refused for the reason under the number. A test that finds something else fails, and writes the page as it should be.

A test whose machine lacks what its hypervisor needs is skipped, and says what that is.

"""
#: What the tests had for a hypervisor.
SHOWN_WITH = "shown with"
START, START_PAUSED, STOP, STOP_AT_ONCE, REBOOT = "start", "start paused", "stop", "stop at once", "reboot"
INFO, LIST, NODE, VALIDATE, CONSOLE = "info", "list", "facts and faults of a node", "check of parameters", "console"
RESTARTED, KEPT, LINK = "daemon restarted meanwhile", "end by itself cleared away", "check of a link beforehand"
CD_ROM, HOTPLUG_DISK, HOTPLUG_NIC = (
    "start from a CD-ROM image",
    "disk plugged in and out",
    "interface plugged in and out",
)
BALLOON, ADDED = "memory changed while it runs", "processors and memory added"
CARRIED = "firmware and TPM taken along"
GROWN, REMOVED = "disk grown while it runs", "nothing left when removed"
IMAGES = "disks of format qcow2"
FROZEN, ADDRESSES = "file systems stand still", "addresses of the guest"
MIGRATE, MIGRATE_FROZEN, MIGRATE_BACK = "live migration", "migration not live", "migration taken back"
POSTCOPY, COPIED = "migration with post-copy", "disks taken along while it runs"

#: Every row, with the methods of the interfaces to hypervisors that it is about.
ROWS: Mapping[str, Sequence[str]] = {
    SHOWN_WITH: (),
    START: ("IHypervisor.start", "IHypervisor.owner", "ITellsInterfaces.interface_to"),
    START_PAUSED: (),
    STOP: ("IHypervisor.stop",),
    STOP_AT_ONCE: (),
    REBOOT: ("IHypervisor.reboot",),
    INFO: ("IHypervisor.info",),
    LIST: ("IHypervisor.list_instances",),
    RESTARTED: (),
    KEPT: ("IKeepsState.kept_names", "IEndsByItself.watch_ends", "IEndsByItself.clear_ended"),
    REMOVED: ("IKeepsFirmware.forget", "IKeepsFirmware.owners"),
    CARRIED: ("IKeepsFirmware.kept", "IKeepsFirmware.idle", "IKeepsFirmware.keep", "IKeepsFirmware.names"),
    NODE: ("IHypervisor.node_info", "IHypervisor.verify"),
    VALIDATE: ("IHypervisor.validate", "IChecksStart.check_start"),
    LINK: ("IPlugs.check_link",),
    CONSOLE: ("IHypervisor.console",),
    CD_ROM: (),
    HOTPLUG_DISK: ("IHotplug.check_hotplug", "IHotplug.plug_disk", "IHotplug.unplug_disk"),
    HOTPLUG_NIC: ("IHotplug.plug_nic", "IHotplug.unplug_nic"),
    BALLOON: ("IBalloon.balloon",),
    ADDED: ("IGrows.check_growth", "IGrows.grow"),
    GROWN: ("IDiskGrowth.disk_has_grown",),
    IMAGES: (
        *("IDiskHolder.holds", "IDiskHolder.resize_disk"),
        *("IDiskHolder.snapshot_disk", "IDiskHolder.drop_snapshot", "ITellsFormats.disk_formats"),
    ),
    FROZEN: ("IFreezes.freeze", "IFreezes.thaw", "IFreezes.thaw_all"),
    ADDRESSES: ("ITellsAddresses.guest_interfaces",),
    MIGRATE: (
        *("ILiveMigration.migration_info", "ILiveMigration.accept", "ILiveMigration.send"),
        *("ILiveMigration.migration_progress", "ILiveMigration.migration_side"),
        *("ILiveMigration.take_over", "ILiveMigration.leave_source", "IListensForMachines.listen_again"),
    ),
    MIGRATE_FROZEN: (),
    POSTCOPY: ("IPostcopy.accept_again", "IPostcopy.send_again"),
    COPIED: ("ICopiesDisks.offer_disks", "ICopiesDisks.copy_disks", "ICopiesDisks.copy_progress"),
    MIGRATE_BACK: ("ILiveMigration.refuse", "ILiveMigration.stay_on_source"),
}
#: The file of what was found where there is no page, a line for each call.
NOTED = "found-cells.jsonl"
#: What became of an operation, by its row and the hypervisor.
Cells = Mapping[tuple[str, str], str]
_NOTE = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)
#: What a cell may say that needs no note.
_SHORT = re.compile(r"[a-z]{1,5}")


def page(cells: Cells) -> str:
    """All of it; a cell of which nothing is known is empty."""
    columns = [hypervisor.value for hypervisor in AVAILABLE]
    found = {(row, column): cells.get((row, column), "") for row in ROWS for column in columns}
    notes = [text for text in dict.fromkeys(found.values()) if text and not _SHORT.fullmatch(text)]
    numbers = {text: str(number) for number, text in enumerate(notes, 1)}
    lines = [[row, *(numbers.get(found[row, column], found[row, column]) for column in columns)] for row in ROWS]
    told = [f"{number}. {text}" for text, number in numbers.items()]
    return HEAD + "\n".join([*grid([["", *columns], *lines]), "", *told, ""])


def known(text: str) -> Cells:
    """What a page says."""
    head, *lines = [line for line in text.splitlines() if line.startswith(("\\", *ROWS))] or [""]
    columns, notes, cells = head.split()[1:], dict(_NOTE.findall(text)), {}
    for line in lines:
        row = max((title for title in ROWS if line.startswith(title)), key=len)
        for column, cell in zip(columns, line[len(row) :].split(), strict=True):
            if cell != "\\":
                cells[row, column] = notes.get(cell, cell)
    return cells


def noted(notes: str) -> Mapping[str, Mapping[str, str]]:
    """What tests have noted on a machine without the page, by hypervisor and row; what was found last counts."""
    found: dict[str, dict[str, str]] = {}
    for line in notes.splitlines():
        hypervisor, cells = json.loads(line)
        found.setdefault(hypervisor, {}).update(cells)
    return found


def hold(hypervisor: str, found: Mapping[str, str]) -> None:
    """The page says so, by the row; a copy of the program without its documents, as machines of the lab have it, has no page:
    what was found there is noted where tests run.

    @raise AssertionError: it does not; it is written as it should be where tests run, then.
    """
    if not PAGE.exists():
        with Path(NOTED).open("a") as notes:
            notes.write(json.dumps([hypervisor, dict(found)]) + "\n")
        return
    said = known(PAGE.read_text())
    wrong = {row: what for row, what in found.items() if said.get((row, hypervisor)) != what}
    if wrong:
        place = Path(PAGE.name)
        before = known(place.read_text()) if place.exists() else said
        place.write_text(page({**before, **{(row, hypervisor): what for row, what in wrong.items()}}))
        raise AssertionError(f"{PAGE} does not say of {hypervisor}: {wrong}; that is in {place.resolve()}")
