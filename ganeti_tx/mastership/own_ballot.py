"""This node's ballot, read from its files at the moment it is asked for."""

import re
from pathlib import Path

from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.config_head import ConfigHead, read_head
from ganeti_tx.rpc.calls.master import Ballot
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.master_term import read_term
from ganeti_tx.runtime.paths import Paths

MAX_CONFIG = 256 * 1024 * 1024
MAX_NAME = 4096
NUMBER = re.compile(r"[0-9]{1,19}")
#: The ssconf key that tells from which configuration a node's simple configuration was made.
SSCONF_SERIAL = "config_serial"
NO_MASTER = "NO MASTER"


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
