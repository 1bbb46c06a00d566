"""Where drivers keep something of each of their machines, for those who look without a driver."""

from pathlib import Path

from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.runtime.paths import Paths

#: By the name of the hypervisor: its directory below the run directory, and how the name of what is in it ends.
KEPT = {word: kind.kept for word, kind in HYPERVISORS.items() if kind.kept is not None}


def kept_machines(paths: Paths) -> set[str]:
    """The names of all of which something is kept, whether they run or not; nothing is opened."""
    return {name for place, ending in KEPT.values() for name in _names(paths.run_dir / place, ending)}


def _names(directory: Path, ending: str) -> set[str]:
    if not directory.is_dir():
        return set()
    return {path.name.removesuffix(ending) for path in directory.iterdir() if path.name.endswith(ending)}
