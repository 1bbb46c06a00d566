"""Reading this node's configuration; when it is damaged, where else it is to be had."""

from ganeti_tx.config.ssconf_reader import SsconfReader
from ganeti_tx.config.upgrade import ReadConfig, read_config
from ganeti_tx.errors import ConfigurationError, ConfigVersionMismatch
from ganeti_tx.model.config_data import MAX_CONFIG_BYTES
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.files_errors import words
from ganeti_tx.runtime.paths import Paths


def read_own(files: IFiles, paths: Paths) -> ReadConfig:
    """What this node's config.data holds.

    @raise FileNotFoundError: there is none. @raise ConfigurationError: it cannot be read, or is damaged; the line says
        who has copies. @raise ConfigVersionMismatch: it is of a later version.
    """
    path = paths.config_file
    try:
        return read_config(files.read(path, MAX_CONFIG_BYTES))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {words(error, path)}") from None
    except ConfigVersionMismatch:
        raise  # it is whole
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}; {where_copies_are(files, paths)}") from None


def where_copies_are(files: IFiles, paths: Paths) -> str:
    """What to do, with the names of the other master candidates as this node's simple configuration has them."""
    reader = SsconfReader(files, paths)
    try:
        master = reader.master_node()
        others = [node.name for node in reader.candidates() if node.name != master]
    except ConfigurationError:
        others = []
    if not others:
        return "restore it from a backup: this node knows of no other master candidate"
    return f"copy {paths.config_file} from the master candidate where its serial_no is highest: {', '.join(sorted(others))}"
