"""The term: the time of one master, by number; higher than that of every master before it (doc/design/replication.rst)."""

from collections.abc import Callable
from contextlib import suppress
from typing import Literal

import msgspec
from attrs import define

from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.node_files import MASTER_TERM
from ganeti_tx.model.stamp import Stamp
from ganeti_tx.runtime.boot_id import boot_id
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

MAX_BYTES = 64 * 1024
#: What of a node is of a term, as `MasterTerm` names it.
Copy = Literal["config", "ssconf", "queue"]


class MasterTerm(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The highest term that a node knows, and whose it is.

    `boot` is the master's own boot, kept on the master alone: the sequence of its stamps begins anew with each.
    `config` and `ssconf` are the terms in which the configuration and the simple configuration here were written, `queue`
    is the one in which the copies of jobs here were last put right as a whole.
    """

    cluster: str
    master: str
    number: int
    boot: str = ""
    config: int = 0
    ssconf: int = 0
    queue: int = 0


def read_term(files: IFiles, paths: Paths) -> MasterTerm | None:
    """What this node knows; None when it knows nothing, or what it kept is damaged. @raise OSError: it cannot be read."""
    path = paths.master_term_file
    if not files.exists(path):
        return None
    try:
        return msgspec.json.decode(files.read(path, MAX_BYTES), type=MasterTerm)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError):
        return None


async def write_term(files: IFiles, paths: Paths, term: MasterTerm) -> None:
    """Keep it. @raise OSError: it cannot be written."""
    await files.write_atomic(paths.master_term_file, msgspec.json.encode(term), MASTER_TERM.mode)


async def claim_term(
    files: IFiles, paths: Paths, cluster: str, own_name: str, now: float, at_least: int = 1
) -> MasterTerm:
    """The term of this node as master: the one that it has, or a new one after another master and after each boot.

    Daemons that claim at the same time claim the same. @raise ConfigurationError: the term cannot be kept.

    @param now: seconds since the epoch, the first number of a master that knows of none, so that a node whose files
        were lost and restored does not count from the beginning.
    @param at_least: a new master that knows of higher terms on other nodes gives one more than the highest.
    """
    try:
        held, boot = read_term(files, paths), boot_id(files)
        if held is None or held.cluster != cluster:
            held = MasterTerm(cluster=cluster, master="", number=int(now) - 1)
        if (held.master, held.boot) == (own_name, boot) and held.number >= at_least:
            return held
        number = max(held.number + 1, at_least)
        claimed = MasterTerm(
            cluster=cluster, master=own_name, number=number, boot=boot, config=number, ssconf=number, queue=number
        )
        await write_term(files, paths, claimed)
    except OSError as error:
        raise ConfigurationError(
            f"cannot keep the master's term in {paths.master_term_file}: {error.strerror}"
        ) from None
    return claimed


@define
class Stamps:
    """Makes the stamps of one process. `ticks` never goes back between two boots and is the same for all processes.

    `kept` reads the term that is kept on this node: another daemon of this master may have claimed a higher one.
    """

    term: MasterTerm
    ticks: Callable[[], int]
    kept: Callable[[], MasterTerm | None] = lambda: None
    _last: int = 0

    def next(self) -> Stamp:
        """A stamp that is later than all before it."""
        with suppress(OSError):  # then the term is what it was
            kept, term = self.kept(), self.term
            if kept is not None and (kept.cluster, kept.master) == (term.cluster, term.master):
                self.term = max(kept, term, key=lambda each: each.number)
        self._last = max(self.ticks(), self._last + 1)
        return Stamp(cluster=self.term.cluster, master=self.term.master, term=self.term.number, sequence=self._last)
