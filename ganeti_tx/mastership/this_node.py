"""Whether this node is the master, as its own files say."""

from ganeti_tx.config.ssconf_reader import SsconfReader
from ganeti_tx.errors import ConfigurationError, ExitCode
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths


class NotMasterError(ConfigurationError):
    """This node must not be the master: its own files or other nodes say so; to start the daemon again is of no use."""

    exit_code = ExitCode.NOTMASTER


def check_ssconf_master(files: IFiles, paths: Paths, own_name: str) -> None:
    """@raise ConfigurationError: ssconf says that another node is the master. Without ssconf nothing is said."""
    if not files.exists(paths.ssconf_file("master_node")):
        return
    master = SsconfReader(files, paths).master_node()
    if master is not None and master != own_name:
        raise not_the_master(own_name, master)


def check_master(config: ConfigData, paths: Paths, own_name: str) -> None:
    """@raise ConfigurationError: the configuration says that another node is the master."""
    master = config.nodes.get(config.cluster.master_node)
    if master is None:
        raise ConfigurationError(f"{paths.config_file} names an unknown master node {config.cluster.master_node}")
    if master.name != own_name:
        raise not_the_master(own_name, master.name)


def not_the_master(own_name: str, master: str) -> NotMasterError:
    """The refusal to run on a node that is not the master."""
    return NotMasterError(
        f"this node ({own_name}) is not the master of the cluster, {master} is; the configuration is changed there; "
        "'gnt-cluster master-failover' makes this node the master"
    )
