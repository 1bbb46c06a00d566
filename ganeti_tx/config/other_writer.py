"""Noticing that somebody else has written config.data, so that nothing newer is ever overwritten."""

from attrs import define, field

from ganeti_tx.model.config_data import MAX_CONFIG_BYTES, ConfigData
from ganeti_tx.model.config_head import read_head
from ganeti_tx.runtime.files import FileStat, IFiles
from ganeti_tx.runtime.paths import Paths


@define
class OtherWriter:
    """Looks at the file before each write: a new master may have sent its configuration, or an operator put one there."""

    _files: IFiles
    _paths: Paths
    _mine: FileStat | None = field(default=None, init=False)

    def remember(self) -> None:
        """What is there now was written, or read, by us."""
        self._mine = self._stat()

    def reason_not_to_write(self, config: ConfigData) -> str | None:
        """Why our next configuration must not replace what is there: it is not older, or it is another master's."""
        if self._stat() == self._mine:
            return None
        try:
            there = read_head(self._files.read(self._paths.config_file, MAX_CONFIG_BYTES))
        except OSError:
            there = None
        if there is None:
            return None  # gone or damaged: writing makes it good
        if there.cluster.master_node not in ("", config.cluster.master_node):
            master = config.nodes.get(there.cluster.master_node)
            name = there.cluster.master_node if master is None else master.name
            return f"it is the configuration of another master, {name}, now; this node is not the master any more"
        if there.serial_no >= config.serial_no:
            return f"somebody else wrote serial number {there.serial_no}; restart WConfD"
        return None

    def _stat(self) -> FileStat | None:
        try:
            return self._files.stat(self._paths.config_file)
        except OSError:
            return None
