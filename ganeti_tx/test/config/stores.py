"""A store over files in memory, holding the sample cluster."""

from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from random import Random

from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ganeti_tx.config.local import LocalConfig
from ganeti_tx.config.reservations import Owner, Reservations
from ganeti_tx.config.session import Session
from ganeti_tx.config.store import ConfigStore
from ganeti_tx.config.upgrade import with_members
from ganeti_tx.model.config_data import ConfigData, encode
from ganeti_tx.runtime.files import DEFAULT_FILE_MODE
from ganeti_tx.runtime.files_errors import NotSynced
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.model import samples

PATHS = Paths()
JOB: Owner = (7, "job_7_livelock")
OTHER: Owner = (8, "job_8_livelock")

#: The samples' cluster, without the faults that only a test of decoding does not mind.
CONFIG = with_members(
    replace(
        samples.CONFIG,
        cluster=replace(samples.CLUSTER, candidate_pool_size=2, uid_pool=((5, 9), (12, 12)), tags=("b", "a")),
    )
)


class SlowFiles(MemoryFiles):
    """Writes wait until the test lets them through; `written` counts those that were begun."""

    def __init__(self) -> None:
        super().__init__()
        self.under_way: list[tuple[Deferred[None], Path]] = []
        self.written = 0
        self.slow = False

    async def write_atomic(self, path: Path, data: bytes, mode: int = DEFAULT_FILE_MODE, *, sync: bool = True) -> None:
        """As `IFiles`, when the test says so."""
        self.written += 1
        if self.slow:
            let: Deferred[None] = Deferred()
            self.under_way.append((let, path))
            try:
                await let
            except NotSynced:
                await super().write_atomic(path, data, mode, sync=sync)
                raise
        await super().write_atomic(path, data, mode, sync=sync)

    async def write_many(self, files: Mapping[Path, bytes], mode: int = DEFAULT_FILE_MODE) -> None:
        """As `IFiles`."""
        await super().write_many(files, mode)

    def finish(self) -> None:
        """Let the oldest write through."""
        self.under_way.pop(0)[0].callback(None)

    def fail(self, error: OSError) -> None:
        """Let the oldest write fail; with NotSynced it is in place."""
        self.under_way.pop(0)[0].errback(error)


def clock() -> Callable[[], float]:
    """A time that never stands still."""
    ticks = count(1000)
    return lambda: float(next(ticks))


def loaded(files: MemoryFiles, config: ConfigData = CONFIG) -> ConfigStore:
    """A store that has read the configuration from the files."""
    files.mkdir(PATHS.data_dir)
    Deferred.fromCoroutine(files.write_atomic(PATHS.config_file, encode(config), 0o640))
    store = ConfigStore(files, PATHS, clock())
    Deferred.fromCoroutine(store.load())
    return store


def config_of(store: ConfigStore, reservations: Reservations, owner: Owner = JOB, seed: int = 1) -> LocalConfig:
    """One owner's configuration."""
    return LocalConfig(Session(store=store, reservations=reservations, owner=owner, entropy=Random(seed).randbytes))
