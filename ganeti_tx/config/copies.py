"""Where else the configuration is to be had when this node's is damaged."""

from ganeti_tx.config.ssconf_reader import SsconfReader
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths


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
