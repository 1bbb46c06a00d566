"""This node's ballot, read from its files at the moment it is asked for."""

import re
from pathlib import Path

import msgspec

from ganeti_tx.config.ssconf import NO_MASTER
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.mastership.term import MasterTerm, read_term
from ganeti_tx.model.config_head import ConfigHead, read_head
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

MAX_CONFIG = 256 * 1024 * 1024
MAX_NAME = 4096
NUMBER = re.compile(r"[0-9]{1,19}")
#: The ssconf key that tells from which configuration a node's simple configuration was made.
SSCONF_SERIAL = "config_serial"


class Ballot(msgspec.Struct, frozen=True, kw_only=True):
    """What a node's own files say of its cluster: the master's name, and how new the copies are that it has.

    `config_serial` is None on a node without a copy of the configuration; `ssconf_serial` is that of the configuration
    from which its simple configuration was made, and `job_serial` the highest job id it has heard of; -1: not known.
    """

    master: str | None
    cluster_uuid: str | None = None
    config_serial: int | None = None
    config_mtime: float = 0.0
    ssconf_serial: int = -1
    job_serial: int = -1
    #: The latest term that the node has heard of.
    term: MasterTerm | None = None

    @property
    def newest(self) -> int:
        """The newest configuration that the node has seen."""
        return max(self.ssconf_serial, -1 if self.config_serial is None else self.config_serial)


def config_head(files: IFiles, paths: Paths) -> ConfigHead | None:
    """The head of this node's configuration; None when it has none that can be read."""
    try:
        return read_head(files.read(paths.config_file, MAX_CONFIG))
    except FileNotFoundError:
        return None


def own_ballot(files: IFiles, paths: Paths) -> Ballot:
    """What this node's files say; where they differ about the master, the newer ones count.

    @raise ConfigurationError: one cannot be read.
    """
    try:
        head = config_head(files, paths)
        serial = ssconf_serial(files, paths)
        by_config = head is not None and head.master is not None and head.serial_no > serial
        return Ballot(
            master=head.master if head is not None and by_config else ssconf_master(files, paths),
            cluster_uuid=None if head is None else head.cluster.uuid,
            config_serial=None if head is None else head.serial_no,
            config_mtime=0.0 if head is None else head.mtime,
            ssconf_serial=serial,
            job_serial=job_serial(files, paths),
            term=read_term(files, paths),
        )
    except OSError as error:
        raise ConfigurationError(f"cannot read {error.filename}: {error.strerror}") from None


def ssconf_master(files: IFiles, paths: Paths) -> str | None:
    """The master by simple configuration; None when nobody knows it."""
    name = read_word(files, paths.ssconf_file("master_node"))
    return None if name in {NO_MASTER, ""} else name


def ssconf_serial(files: IFiles, paths: Paths) -> int:
    """The serial number of the configuration from which simple configuration was made last; -1 when it is not known."""
    return number(read_word(files, paths.ssconf_file(SSCONF_SERIAL)))


def job_serial(files: IFiles, paths: Paths) -> int:
    """The highest job id; -1 without a job queue."""
    return number(read_word(files, paths.queue_serial_file))


def read_word(files: IFiles, path: Path) -> str:
    """A file of one word; empty when there is none."""
    try:
        return files.read(path, MAX_NAME).decode("utf-8", "replace").strip()
    except FileNotFoundError:
        return ""


def number(word: str) -> int:
    """A number, or -1."""
    return int(word) if NUMBER.fullmatch(word) else -1
