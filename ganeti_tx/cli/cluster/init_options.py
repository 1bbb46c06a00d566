"""The options of gnt-cluster init."""

from ganeti_tx.cli.cluster import ipolicy
from ganeti_tx.cli.options import (
    BACKEND,
    DISK_STATE,
    HYPERVISOR_STATE,
    NODE_PARAMETERS,
    SECONDARY_IP,
    Option,
    negative,
)  # fmt: skip

_DIR, _YES_NO = "DIR", "yes|no"


def _text(flags: str, dest: str, help: str, metavar: str | None = None) -> Option:
    return Option(tuple(flags.split()), dest, help, "string", metavar=metavar)


def _yes_no(flag: str, dest: str, help: str) -> Option:
    return Option((flag,), dest, help, "bool", metavar=_YES_NO)


OPTIONS = (
    BACKEND,
    Option(("-C", "--candidate-pool-size"), "candidate_pool_size", "how many nodes keep the configuration", "int"),
    _text("--enabled-hypervisors", "enabled_hypervisors", "hypervisors, comma separated; the first is the default"),
    _text("--file-storage-dir", "file_storage_dir", "directory for file disks", _DIR),
    Option(
        ("-H", "--hypervisor-parameters"), "hvparams", "hypervisor parameters, as NAME:KEY=VALUE,...", "identkeyval",
        [], "append", old_flags=("--hypervisor-defaults",),
    ),
    _text("-m --mac-prefix", "mac_prefix", "first three bytes of generated MAC addresses", "PREFIX"),
    _text("--master-netdev", "master_netdev", "interface for the cluster's own address", "NETDEV"),
    _text("--master-netmask", "master_netmask", "prefix length of the cluster's own address", "NETMASK"),
    Option(("-N", "--nic-parameters"), "nicparams", "NIC parameters, such as mode and link", "keyval", {}),
    negative("--no-etc-hosts", "modify_etc_hosts", "leave /etc/hosts alone"),
    negative("--no-ssh-init", "modify_ssh_setup", "leave SSH keys alone"),
    SECONDARY_IP,
    _text("--vg-name", "vg_name", "the LVM volume group for disks", "VG"),
    _yes_no("--maintain-node-health", "maintain_node_health", "whether the watcher repairs nodes"),
    _text("--uid-pool", "uid_pool", "user ids that instances may run as, as LOW-HIGH,..."),
    _text("--drbd-usermode-helper", "drbd_helper", "the helper that DRBD calls"),
    _text("-I --default-iallocator", "default_iallocator", "program that chooses nodes when none is named", "<NAME>"),
    Option(("--default-iallocator-params",), "default_iallocator_params", "parameters of that program", "keyval"),
    Option(
        ("--primary-ip-version",), "primary_ip_version", "IP version of the nodes' primary addresses", "string", 4,
        metavar="4|6",
    ),
    _yes_no("--prealloc-wipe-disks", "prealloc_wipe_disks", "whether new disks are wiped first"),
    NODE_PARAMETERS,
    _text("--shared-file-storage-dir", "shared_file_storage_dir", "directory for shared file disks", "SHAREDDIR"),
    _yes_no("--use-external-mip-script", "use_external_mip_script", "whether a script sets the cluster's own address"),
    Option(
        ("-D", "--disk-parameters"), "diskparams", "disk parameters, as TEMPLATE:KEY=VALUE,...", "identkeyval",
        [], "append",
    ),
    HYPERVISOR_STATE,
    DISK_STATE,
    _text("--enabled-disk-templates", "enabled_disk_templates", "disk templates that may be used, comma separated"),
    Option(
        ("--gluster-storage-dir",), "gluster_storage_dir", "where Gluster volumes are mounted", "string",
        "/var/run/ganeti/gluster", metavar="GLUSTERDIR",
    ),
    _text("--install-image", "install_image", "image of the helper machine that installs"),
    _text("--zeroing-image", "zeroing_image", "image of the helper machine that wipes"),
    _text("--compression-tools", "compression_tools", "compressors for moving instances, comma separated"),
    _yes_no("--user-shutdown", "enabled_user_shutdown", "whether users may stop their instances from inside"),
    Option(("--ssh-key-bits",), "ssh_key_bits", "length of the nodes' SSH keys", "int"),
    Option(
        ("--ssh-key-type",), "ssh_key_type", "type of the nodes' SSH keys", "choice", choices=("rsa", "dsa", "ecdsa")
    ),
    *ipolicy.OPTIONS,
    # design-2.0, cluster defaults
    Option(("--defaults",), "old_defaults", "old spelling: defaults as hypervisor=NAME,bridge=NAME", "keyval"),
)  # fmt: skip
