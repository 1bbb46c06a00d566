"""Telling how new the copies are that this node keeps of what the master has."""

from collections.abc import Iterator
from contextlib import suppress

from attrs import define

from ganeti_tx.mastership.ballot import SSCONF_SERIAL
from ganeti_tx.model.config_data import MAX_CONFIG_BYTES
from ganeti_tx.model.config_head import read_head
from ganeti_tx.model.digest import digest_of
from ganeti_tx.model.node_files import COMPARED
from ganeti_tx.node.answers import answers
from ganeti_tx.rpc.calls.cluster import ClusterCopies, CopiesState
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

MAX_SSCONF = 16 * 1024 * 1024
#: Bytes of one file that nodes have alike.
MAX_FILE = 1024 * 1024
SSCONF = "ssconf_"


@define
class CopiesOfTheCluster:
    """What cluster verification compares."""

    files: IFiles
    paths: Paths

    @answers(ClusterCopies)
    async def state(self, call: ClusterCopies) -> CopiesState:
        """As it is on disk; what cannot be read counts as not there."""
        ssconf = {
            name: self.files.read(self.paths.data_dir / name, MAX_SSCONF)
            for name in self.files.listdir(self.paths.data_dir)
            if name.startswith(SSCONF) and name != f"{SSCONF}{SSCONF_SERIAL}"
        }
        whole = b"".join(name.encode() + b"\0" + value + b"\0" for name, value in sorted(ssconf.items()))
        master = ssconf.get(f"{SSCONF}master_node", b"").decode("ascii", "replace").strip()
        return CopiesState(
            config=self._config(),
            queue=self._queue(),
            ssconf=digest_of(whole),
            master=master,
            files=dict(self._files()),
        )

    def _files(self) -> Iterator[tuple[str, str]]:
        for file in COMPARED:
            with suppress(OSError):
                yield file.path, digest_of(self.files.read(self.paths.of(file), MAX_FILE))

    def _config(self) -> int | None:
        path = self.paths.config_file
        try:
            head = read_head(self.files.read(path, MAX_CONFIG_BYTES))
        except OSError:
            return None
        return None if head is None else head.serial_no

    def _queue(self) -> int | None:
        try:
            return int(self.files.read(self.paths.queue_serial_file, 64))
        except (OSError, ValueError):
            return None
