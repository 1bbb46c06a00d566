"""The files of a data directory that lies anywhere: by --path, not at its usual place below a node's root."""

import os
import secrets
import time
from pathlib import Path, PurePosixPath

import attrs

from ganeti_tx.errors import GanetiError
from ganeti_tx.model.node_files import (
    CONFIG,
    DATA,
    FILE_STORAGE_PATHS,
    FORMER,
    RAPI_USERS,
    SERVER_CERTIFICATE,
    NodeFile,
)
from ganeti_tx.runtime.files_replace import replace_file

#: What is in every one; the configuration alone may be a copy.
EXPECTED = (CONFIG, SERVER_CERTIFICATE)
MASTER_NODE = "ssconf_master_node"


@attrs.frozen
class DataDirectory:
    """A data directory with its directory of settings; with `dry_run` nothing is written."""

    data: Path
    settings: Path
    dry_run: bool

    def at(self, file: NodeFile) -> Path:
        """Where a file of the table is here."""
        return self.data / PurePosixPath(file.path).relative_to(DATA)

    @property
    def storage_paths(self) -> Path:
        """The list of the directories in which disks may be."""
        return self.settings / PurePosixPath(FILE_STORAGE_PATHS.path).name

    @property
    def old_rapi_users(self) -> Path:
        """Where the users of the Remote API stood before 2.4."""
        return self.data / f"{self.at(RAPI_USERS).parent.name}_{self.at(RAPI_USERS).name}"

    def check(self) -> None:
        """@raise GanetiError: this is none"""
        if not all(self.at(file).exists() for file in EXPECTED):
            raise GanetiError(f"{self.data} does not seem to be a Ganeti configuration directory")

    def master(self) -> str:
        """The name of the master node. @raise GanetiError: nobody wrote it down."""
        path = self.data / MASTER_NODE
        try:
            return path.read_text().strip()
        except FileNotFoundError:
            raise GanetiError(f"{path} does not exist, so nobody knows whether this is the master node") from None

    def write(self, path: Path, data: bytes, mode: int) -> None:
        """Replace a file whole; it is its former owner's."""
        if self.dry_run:
            return
        former = path.stat() if path.exists() else None
        replace_file(path, data, mode)
        if former is not None and os.geteuid() == 0:
            os.chown(path, former.st_uid, former.st_gid)

    def replace_configuration(self, data: bytes) -> Path:
        """Write it, and the former one beside it first; gives where that is."""
        backup = self.back_up(CONFIG)
        self.write(self.at(CONFIG), data, CONFIG.mode)
        return backup

    def back_up(self, file: NodeFile) -> Path:
        """Copy a file beside itself; gives where that is."""
        path = self.at(file)
        when = f"{time.strftime('%Y-%m-%d_%H_%M_%S')}.{secrets.token_hex(4)}"
        backup = path.with_name(FORMER.pattern.replace("*", path.name, 1).replace("*", when))
        self.write(backup, path.read_bytes(), FORMER.mode)
        return backup
