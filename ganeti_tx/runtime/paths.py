"""Every path the programs use, below one root (Ganeti 3.0 configuration table, "paths")."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from attrs import field, frozen

from ganeti_tx.model import node_files, search_paths
from ganeti_tx.model.node_files import NodeFile

#: The environment variable that names the root; Ganeti's virtual clusters know it by the same name.
ROOT_VARIABLE = "GANETI_ROOTDIR"

DATA = node_files.DATA.lstrip("/")
RUN = "var/run/ganeti"
LOCKS = "var/run/ganeti-locks"
LOG = "var/log/ganeti"
ETC = "etc/ganeti"
LIB = "usr/lib/ganeti"

#: The log of each daemon (Ganeti 3.0 configuration table, "daemon_log_files").
DAEMON_LOG_NAMES: Mapping[str, str] = {
    "ganeti-confd": "conf-daemon.log",
    "ganeti-kvmd": "kvm-daemon.log",
    "ganeti-luxid": "luxi-daemon.log",
    "ganeti-master": "master-daemon.log",
    "ganeti-masterd": "master-daemon.log",
    "ganeti-metad": "meta-daemon.log",
    "ganeti-mond": "monitoring-daemon.log",
    "ganeti-noded": "node-daemon.log",
    "ganeti-rapi": "rapi-daemon.log",
    "ganeti-wconfd": "wconf-daemon.log",
}


#: Archived jobs are spread over directories, so that none grows without bound.
JOBS_PER_ARCHIVE_DIRECTORY = 10000


def _absolute(root: Path) -> Path:
    """A root without a leading slash would move with the working directory."""
    if not root.is_absolute():
        raise ValueError(f"the root directory must be an absolute path, not {str(root)!r}")
    return root


def _plain(name: str) -> str:
    """A name that becomes a part of a path must be one part of it."""
    if name in {"", ".", ".."} or "/" in name or "\0" in name:
        raise ValueError(f"not a plain file name: {name!r}")
    return name


@lru_cache(maxsize=4096)
def _below(root: Path, relative: str) -> Path:
    """Putting paths together costs as much as a small piece of work; most are asked for again and again."""
    return root / relative


class _At:
    """One fixed path below the root, as a read-only attribute."""

    def __init__(self, relative: str) -> None:
        self._relative = relative.lstrip("/")

    def __get__(self, paths: "Paths", owner: object = None) -> Path:
        return _below(paths.root, self._relative)


@frozen
class Paths:
    """Where everything is, for one node.

    With an empty root these are Ganeti's own paths; a test or a devcluster gives each node a root of its own.
    """

    root: Path = field(default=Path("/"), converter=Path, validator=lambda _self, _field, value: _absolute(value))

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> "Paths":
        """The paths below GANETI_ROOTDIR; unset or empty means /. @raise ValueError: it is not absolute."""
        return cls(Path(environ.get(ROOT_VARIABLE) or "/"))

    # Kept over reboots.
    data_dir = _At(DATA)
    config_file = _At(node_files.CONFIG.path)
    locks_file = _At(node_files.LOCKS.path)
    temporary_reservations_file = _At(node_files.TEMPORARY_RESERVATIONS.path)
    server_pem = _At(node_files.SERVER_CERTIFICATE.path)
    client_pem = _At(node_files.CLIENT_CERTIFICATE.path)
    authority_pem = _At(node_files.AUTHORITY.path)
    authority_key = _At(node_files.AUTHORITY_KEY.path)
    rapi_pem = _At(node_files.RAPI_CERTIFICATE.path)
    rapi_dir = _At(f"{DATA}/rapi")
    rapi_users_file = _At(node_files.RAPI_USERS.path)
    rapi_roles_file = _At(node_files.RAPI_ROLES.path)
    rapi_tokens_file = _At(node_files.RAPI_TOKENS.path)
    rapi_ldap_file = _At(node_files.RAPI_LDAP.path)
    rapi_record_file = _At(node_files.RAPI_RECORD.path)
    spice_pem = _At(node_files.SPICE_CERTIFICATE.path)
    spice_ca_pem = _At(node_files.SPICE_AUTHORITY.path)
    hmac_key = _At(node_files.HMAC_KEY.path)
    confd_keys = _At(node_files.CONFD_KEYS.path)
    cluster_domain_secret = _At(node_files.DOMAIN_SECRET.path)
    master_term_file = _At(node_files.MASTER_TERM.path)
    known_hosts = _At(node_files.KNOWN_HOSTS.path)
    ssh_public_keys = _At(f"{DATA}/ganeti_pub_keys")
    intent_to_upgrade = _At(f"{DATA}/intent-to-upgrade")
    export_dir = _At(f"{DATA}/export")
    watcher_pause_file = _At(f"{DATA}/watcher.pause")

    # The job queue.
    queue_dir = _At(f"{DATA}/queue")
    queue_archive_dir = _At(f"{DATA}/queue/archive")
    queue_lost_dir = _At(f"{DATA}/queue/lost+found")
    queue_drain_file = _At(f"{DATA}/queue/drain")
    queue_lock_file = _At(f"{DATA}/queue/lock")
    queue_serial_file = _At(f"{DATA}/queue/serial")
    queue_version_file = _At(f"{DATA}/queue/version")

    # Gone after a reboot.
    run_dir = _At(RUN)
    #: The keys of a merge; beside the daemons' directory, in which others than root may write.
    merge_dir = _At(f"{RUN}-merge")
    livelock_dir = _At(f"{RUN}/livelocks")
    luxid_message_dir = _At(f"{RUN}/luxidmessages")
    withdrawn_file = _At(f"{RUN}/luxidmessages/withdrawn")
    bdev_cache_dir = _At(f"{RUN}/bdev-cache")
    crypto_keys_dir = _At(f"{RUN}/crypto")
    instance_disks_dir = _At(f"{RUN}/instance-disks")
    import_export_dir = _At(f"{RUN}/import-export")
    instance_reason_dir = _At(f"{RUN}/instance-reason")
    instance_status_file = _At(f"{RUN}/instance-status")
    uid_pool_dir = _At(f"{RUN}/uid-pool")
    gluster_storage_dir = _At(f"{RUN}/gluster")
    gluster_mounts_dir = _At(f"{RUN}/gluster-mounts")
    extstorage_dir = _At(f"{RUN}/extstorage")
    metadata_dir = _At(f"{RUN}/metadata")
    raw_views_dir = _At(f"{RUN}/raw-views")
    programs_dir = _At(f"{RUN}/programs")
    no_voting_file = _At(f"{RUN}/master-no-voting")
    #: What the daemons of a master wait for, or ended for, in one line, until they are up.
    master_waits_file = _At(f"{RUN}/master-waits")

    # Unix sockets.
    socket_dir = _At(f"{RUN}/socket")
    master_socket = _At(f"{RUN}/socket/ganeti-master")
    query_socket = _At(f"{RUN}/socket/ganeti-query")
    wconfd_socket = _At(f"{RUN}/socket/ganeti-wconfd")
    metad_socket = _At(f"{RUN}/socket/ganeti-metad")
    runner_socket = _At(f"{RUN}/socket/ganeti-runner")

    # What the KVM driver keeps of its machines; firmware outlives their runs.
    kvm_firmware_dir = _At(f"{DATA}/kvm-firmware")
    kvm_dir = _At(f"{RUN}/kvm-hypervisor")
    kvm_pid_dir = _At(f"{RUN}/kvm-hypervisor/pid")
    kvm_uid_dir = _At(f"{RUN}/kvm-hypervisor/uid")
    kvm_control_dir = _At(f"{RUN}/kvm-hypervisor/ctrl")
    kvm_conf_dir = _At(f"{RUN}/kvm-hypervisor/conf")
    kvm_nic_dir = _At(f"{RUN}/kvm-hypervisor/nic")
    kvm_chroot_dir = _At(f"{RUN}/kvm-hypervisor/chroot")
    kvm_chroot_quarantine_dir = _At(f"{RUN}/kvm-hypervisor/chroot-quarantine")
    kvm_keys_dir = _At(f"{RUN}/kvm-hypervisor/keys")
    kvm_keymap_dir = _At(f"{RUN}/kvm-hypervisor/keymap")

    fake_run_dir = _At(f"{RUN}/fake-hypervisor")
    # What the drivers of containers and of Xen keep of their instances.
    lxc_run_dir = _At(f"{RUN}/lxc")
    xen_run_dir = _At(f"{RUN}/xen-hypervisor")
    # What the driver of chroots keeps of its instances, and the roots of those without disks.
    chroot_run_dir = _At(f"{RUN}/chroot-hypervisor")
    chroot_tree_dir = _At("srv/ganeti/chroot")

    # Logs.
    log_dir = _At(LOG)
    log_os_dir = _At(f"{LOG}/os")
    log_kvm_dir = _At(f"{LOG}/kvm")
    log_xen_dir = _At(f"{LOG}/xen")
    log_chroot_dir = _At(f"{LOG}/chroot")
    log_extstorage_dir = _At(f"{LOG}/extstorage")
    jobs_log = _At(f"{LOG}/jobs.log")
    commands_log = _At(f"{LOG}/commands.log")
    watcher_log = _At(f"{LOG}/watcher.log")
    rapi_access_log = _At(f"{LOG}/rapi-access.log")

    # The administrator's own.
    conf_dir = _At(ETC)
    hooks_dir = _At(f"{ETC}/hooks")
    user_scripts_dir = _At(f"{ETC}/scripts")
    restricted_commands_dir = _At(f"{ETC}/restricted-commands")
    file_storage_paths_file = _At(node_files.FILE_STORAGE_PATHS.path)
    vnc_password_file = _At(f"{ETC}/vnc-cluster-password")
    external_master_setup_script = _At(f"{ETC}/scripts/master-ip-setup")
    xen_ifup_os = _At(f"{ETC}/xen-ifup-os")
    etc_hosts = _At("etc/hosts")
    ceph_conf = _At("etc/ceph/ceph.conf")
    ssh_config_dir = _At("etc/ssh")
    root_ssh_dir = _At("root/.ssh")
    root_authorized_keys = _At("root/.ssh/authorized_keys")
    xen_config_dir = _At("etc/xen")
    xen_own_log_dir = _At("var/log/xen")

    # Locks and storage. In /var/lock, where Ganeti has them, everybody may make files, and so keep these locked.
    lock_dir = _At(LOCKS)
    watcher_lock_file = _At(f"{LOCKS}/ganeti-watcher.lock")
    restricted_commands_lock_file = _At(f"{LOCKS}/ganeti-restricted-commands.lock")
    backup_dir = _At("var/backups")
    file_storage_dir = _At("srv/ganeti/file-storage")
    shared_file_storage_dir = _At("srv/ganeti/shared-file-storage")

    # Installed programs and scripts.
    lib_dir = _At(LIB)
    tools_dir = _At(f"{LIB}/tools")
    kvm_ifup = _At(f"{LIB}/kvm-ifup")
    kvm_console_wrapper = _At(f"{LIB}/tools/kvm-console-wrapper")
    xen_console_wrapper = _At(f"{LIB}/tools/xen-console-wrapper")
    default_master_setup_script = _At(f"{LIB}/tools/master-ip-setup")
    share_dir = _At("usr/share/ganeti")

    #: Names other directories of instance allocators, where it is there.
    iallocator_search_file = _At(search_paths.INSTANCE_ALLOCATORS_FILE)

    @property
    def os_search_path(self) -> tuple[Path, ...]:
        """Where OS definitions are looked for, first found wins (Ganeti 3.0 OS interface table, "search_path")."""
        return self._each(*search_paths.OS_DEFINITIONS)

    @property
    def extstorage_search_path(self) -> tuple[Path, ...]:
        """Where external storage providers are looked for, first found wins."""
        return self._each(*search_paths.EXTERNAL_STORAGE)

    @property
    def iallocator_search_path(self) -> tuple[Path, ...]:
        """Where instance allocators are usually looked for, first found wins."""
        return self._each(*search_paths.INSTANCE_ALLOCATORS)

    def of(self, file: NodeFile) -> Path:
        """Where a file of the cluster is on this node."""
        return _below(self.root, file.path.lstrip("/"))

    def present(self, file: NodeFile) -> list[Path]:
        """Where it, or all of a family, is on this node; nothing when it is not there."""
        path = self.of(file)
        return sorted(path.parent.glob(file.pattern)) if file.is_family else [path] if path.exists() else []

    def job_file(self, job_id: int) -> Path:
        """The file of a job that is in the queue."""
        return _below(self.queue_dir, f"job-{job_id:d}")

    def archived_job_file(self, job_id: int) -> Path:
        """The file of an archived job; 10000 of them share a directory."""
        return _below(self.queue_archive_dir, f"{job_id // JOBS_PER_ARCHIVE_DIRECTORY:d}/job-{job_id:d}")

    def ssconf_file(self, key: str) -> Path:
        """The file of one ssconf key."""
        return _below(self.data_dir, node_files.SSCONF.pattern.replace("*", _plain(key)))

    def instance_disk_link(self, instance_name: str, index: int) -> Path:
        """What leads to an instance's disk while that is ready."""
        return self.instance_disks_dir / f"{_plain(instance_name)}:{index:d}"

    def joining_file(self, address: str) -> Path:
        """By which certificate a node with this address is known while it is set up."""
        return self.data_dir / node_files.JOINING.pattern.replace("*", _plain(address))

    def pid_file(self, daemon: str) -> Path:
        """The pid file of a daemon such as "ganeti-noded"."""
        return self.run_dir / f"{_plain(daemon)}.pid"

    def log_file(self, daemon: str) -> Path:
        """The log of a daemon such as "ganeti-noded". @raise KeyError: no daemon of that name."""
        return self.log_dir / DAEMON_LOG_NAMES[daemon]

    def watcher_state_file(self, group_uuid: str) -> Path:
        """What the watcher remembers of a node group."""
        return self.data_dir / f"watcher.{_plain(group_uuid)}.data"

    def watcher_instance_status_file(self, group_uuid: str) -> Path:
        """The instance states the watcher saw last in a node group."""
        return self.data_dir / f"watcher.{_plain(group_uuid)}.instance-status"

    def watcher_group_lock_file(self, group_uuid: str) -> Path:
        """Held by the process that looks after a node group."""
        return self.lock_dir / f"ganeti-watcher.{_plain(group_uuid)}.lock"

    def _each(self, *relative: str) -> tuple[Path, ...]:
        return tuple(self.root / each for each in relative)
