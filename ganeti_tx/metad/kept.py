"""The files in which a node keeps what it has told of its instances, so that a daemon that is started again knows it."""

import msgspec
from twisted.logger import Logger

from ganeti_tx.metad.guests import Guests
from ganeti_tx.model.guest_facts import GuestFacts
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.told_guests import told_guests

log = Logger()

MAX_FILE = 16 * 1024 * 1024


def load(guests: Guests, files: IFiles, paths: Paths) -> None:
    """Know what the files say; of one that cannot be read the log tells."""
    for name in told_guests(files, paths):
        path = paths.metadata_dir / name
        try:
            guests.update(msgspec.json.decode(files.read(path, MAX_FILE), type=GuestFacts))
        except (OSError, msgspec.DecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is damaged"
            log.warn("cannot use {path}: {why}", path=str(path), why=why)
