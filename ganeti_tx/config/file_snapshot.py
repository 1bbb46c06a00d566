"""The configuration as its file holds it, for a reader in another process than wconfd."""

from attrs import define
from twisted.logger import Logger

from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.config_data import MAX_CONFIG_BYTES, ConfigData, decode
from ganeti_tx.runtime.files import FileStat, IFiles
from ganeti_tx.runtime.files_errors import words
from ganeti_tx.runtime.paths import Paths

log = Logger()


@define
class FileSnapshot:
    """Reads the file again when it has been replaced."""

    files: IFiles
    paths: Paths
    _stat: FileStat | None = None
    _config: ConfigData | None = None

    def current(self) -> ConfigData:
        """The newest state; the last that could be read while the machine cannot read it, say, for want of open files.

        @raise ConfigurationError: there is no file, or it could never be read.
        """
        path = self.paths.config_file
        try:
            stat = self.files.stat(path)
            if self._config is None or stat != self._stat:
                self._config, self._stat = decode(self.files.read(path, MAX_CONFIG_BYTES)), stat
        except FileNotFoundError:
            raise ConfigurationError(f"this node is not the master of a cluster: no {path}") from None
        except OSError as error:
            if self._config is None:
                raise ConfigurationError(f"cannot read {path}: {words(error, path)}") from None
            log.warn("cannot read {path} now: {error}", path=str(path), error=words(error, path))
        return self._config
