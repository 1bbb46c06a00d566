"""Which disk templates this node has: those for which a folder here has a driver.

Each folder's module `driver` has a function `register` (`kinds.Register`); nothing else names the drivers.
"""

import pkgutil
from collections.abc import Iterator
from importlib import import_module

from ganeti_tx.node import storage
from ganeti_tx.node.storage.kinds import NodeStorage, Register, StorageParts, together


def registrations() -> Iterator[Register]:
    """That of every folder, by its name."""
    folders = sorted(each.name for each in pkgutil.iter_modules(storage.__path__) if each.ispkg)
    for folder in folders:
        register: Register = import_module(f"{storage.__name__}.{folder}.driver").register
        yield register


def load_storage(parts: StorageParts) -> NodeStorage:
    """Every template and every pool that is built."""
    return together(register(parts) for register in registrations())
