"""The options of gnt-cluster modify."""

from ganeti_tx.cli.cluster import ipolicy
from ganeti_tx.cli.cluster.init_options import OPTIONS as OF_INIT
from ganeti_tx.cli.options import DRY_RUN, FORCE, PRIORITY, SUBMITTING, Option

#: What modify takes as init does.
_SHARED = frozenset(
    {
        "beparams", "candidate_pool_size", "install_image", "enabled_hypervisors", "hvparams", "mac_prefix",
        "master_netdev", "master_netmask", "nicparams", "vg_name", "maintain_node_health", "uid_pool", "drbd_helper",
        "default_iallocator", "default_iallocator_params", "prealloc_wipe_disks", "ndparams", "use_external_mip_script",
        "diskparams", "hv_state", "disk_state", "enabled_disk_templates", "enabled_user_shutdown", "file_storage_dir",
        "shared_file_storage_dir", "zeroing_image", "compression_tools",
    }
)  # fmt: skip


def _text(flag: str, dest: str, help: str) -> Option:
    return Option((flag,), dest, help, "string")


OPTIONS = (
    FORCE,
    *SUBMITTING,
    DRY_RUN,
    PRIORITY,
    *(option for option in OF_INIT if option.dest in _SHARED),
    Option(("--max-running-jobs",), "max_running_jobs", "how many jobs run at the same time", "int"),
    Option(("--max-tracked-jobs",), "max_tracked_jobs", "how many running jobs are watched for changes", "int"),
    _text("--instance-communication-network", "instance_communication_network", "network between nodes and instances"),
    _text("--add-uids", "add_uids", "user ids to add to the pool, as LOW-HIGH,..."),
    _text("--remove-uids", "remove_uids", "user ids to take out of the pool, as LOW-HIGH,..."),
    _text("--reserved-lvs", "reserved_lvs", "patterns of logical volumes that are not the cluster's, comma separated"),
    Option(("--modify-etc-hosts",), "modify_etc_hosts", "whether nodes are put into /etc/hosts", "bool", metavar="yes|no"),
    Option(
        ("--enabled-data-collectors",), "enabled_data_collectors", "collectors switched on or off, NAME=yes|no,...",
        "keyval", {},
    ),
    Option(
        ("--data-collector-interval",), "data_collector_interval", "seconds between two looks, NAME=SECONDS,...",
        "keyval", {},
    ),
    *(option for option in ipolicy.OPTIONS if not option.dest.startswith("ispecs_")),
)  # fmt: skip
