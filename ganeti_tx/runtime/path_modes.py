"""Who may do what with each file and directory (Ganeti 3.0 configuration table, "path_modes").

Two directories are root's and sticky here, which are gnt-masterd's there (doc/design/daemon-users.rst).
"""

import re

from attrs import frozen

from ganeti_tx.model.node_files import DATA, FILES, SSCONF, NodeFile

#: The user each part runs as, and its group (Ganeti 3.0 configuration table, "daemon_users").
USERS = {
    "masterd": "gnt-masterd",
    "luxid": "gnt-masterd",
    "wconfd": "gnt-masterd",
    "confd": "gnt-confd",
    "rapi": "gnt-rapi",
    "noded": "root",
    "mond": "root",
    "metad": "gnt-metad",
}
GROUPS = {
    "masterd": "gnt-masterd",
    "luxid": "gnt-luxid",
    "wconfd": "gnt-masterd",
    "confd": "gnt-confd",
    "rapi": "gnt-rapi",
    "noded": "root",
    "mond": "root",
    "metad": "gnt-metad",
    "daemons": "gnt-daemons",
    "admin": "gnt-admin",
}


@frozen(kw_only=True)
class PathMode:
    """The permission bits of one path and, by part, whose it is."""

    mode: int
    owner: str
    group: str


def _table(text: str) -> dict[str, PathMode]:
    """Lines of "path mode owner group" into a table, in their order."""
    rows = [line.split() for line in text.strip().splitlines()]
    return {path: PathMode(mode=int(mode, 8), owner=owner, group=group) for path, mode, owner, group in rows}


DIRECTORY_MODES = _table("""
/var/lib/ganeti 0755 masterd masterd
/var/lib/ganeti/queue 0750 masterd daemons
/var/lib/ganeti/queue/archive 0750 masterd daemons
/var/lib/ganeti/rapi 0750 rapi masterd
/var/log/ganeti 1770 noded daemons
/var/log/ganeti/chroot 0750 noded daemons
/var/log/ganeti/cleaner 0750 noded noded
/var/log/ganeti/extstorage 0750 noded noded
/var/log/ganeti/kvm 0750 noded daemons
/var/log/ganeti/master-cleaner 0750 masterd masterd
/var/log/ganeti/os 0750 noded daemons
/var/log/ganeti/xen 0750 noded daemons
/var/run/ganeti 1775 noded daemons
/var/run/ganeti/bdev-cache 0755 noded masterd
/var/run/ganeti/chroot-hypervisor 0750 noded noded
/var/run/ganeti/crypto 0700 noded masterd
/var/run/ganeti/extstorage 0755 noded noded
/var/run/ganeti/fake-hypervisor 0750 noded noded
/var/run/ganeti/gluster-mounts 0755 noded noded
/var/run/ganeti/import-export 0755 noded masterd
/var/run/ganeti/instance-disks 0755 noded masterd
/var/run/ganeti/instance-reason 0755 noded noded
/var/run/ganeti/kvm-hypervisor 0750 noded noded
/var/run/ganeti/livelocks 0750 masterd daemons
/var/run/ganeti/luxidmessages 0750 masterd daemons
/var/run/ganeti/lxc 0750 noded noded
/var/run/ganeti/metadata 0750 noded metad
/var/run/ganeti/programs 0700 noded noded
/var/run/ganeti/raw-views 0700 noded noded
/var/run/ganeti/socket 0770 masterd daemons
/var/run/ganeti/uid-pool 0750 noded masterd
/var/run/ganeti/xen-hypervisor 0750 noded noded
/var/run/ganeti-locks 0700 noded noded
""")
#: Made like those, and left as they are once they are there: whatever is mounted on them has an owner and files of its own.
MOUNT_POINT_MODES = _table("""
/var/run/ganeti/gluster 0755 noded noded
""")


def mode_of_file(file: NodeFile) -> PathMode:
    """As it is declared."""
    return PathMode(mode=file.mode, owner=file.owner, group=file.group)


_OF_CLUSTER = [file for file in FILES if file.of_cluster]
#: Those of the cluster, the others of Ganeti's table, and the ones that are this program's own.
FILE_MODES = {file.path: mode_of_file(file) for file in _OF_CLUSTER if not file.is_family} | _table("""
/var/lib/ganeti/queue/drain 0644 masterd daemons
/var/lib/ganeti/queue/lock 0640 masterd daemons
/var/lib/ganeti/queue/serial 0640 masterd daemons
/var/lib/ganeti/queue/version 0640 masterd daemons
/var/log/ganeti/conf-daemon.log 0600 confd masterd
/var/log/ganeti/luxi-daemon.log 0600 luxid masterd
/var/log/ganeti/master-daemon.log 0600 masterd masterd
/var/log/ganeti/meta-daemon.log 0600 metad masterd
/var/log/ganeti/monitoring-daemon.log 0600 mond masterd
/var/log/ganeti/node-daemon.log 0600 noded masterd
/var/log/ganeti/jobs.log 0600 masterd masterd
/var/log/ganeti/rapi-access.log 0600 rapi rapi
/var/log/ganeti/rapi-daemon.log 0600 rapi masterd
/var/log/ganeti/watcher.log 0600 noded noded
/var/log/ganeti/wconf-daemon.log 0600 wconfd masterd
/var/run/ganeti/luxidmessages/withdrawn 0600 masterd masterd
/var/run/ganeti/master-no-voting 0600 masterd masterd
/var/run/ganeti/master-waits 0644 masterd masterd
/var/run/ganeti/socket/ganeti-master 0660 masterd daemons
/var/run/ganeti/socket/ganeti-metad 0600 metad metad
/var/run/ganeti/socket/ganeti-query 0660 luxid daemons
/var/run/ganeti/socket/ganeti-runner 0600 masterd masterd
/var/run/ganeti/socket/ganeti-wconfd 0600 masterd masterd
""")

#: Every ssconf file; every file of a job; every directory of jobs below the queue.
SSCONF_MODE = mode_of_file(SSCONF)
JOB_FILE_MODE = PathMode(mode=0o640, owner="masterd", group="daemons")
JOB_DIRECTORY_MODE = PathMode(mode=0o750, owner="masterd", group="daemons")
#: What is kept of an instance for the metadata daemon.
METADATA_FILE_MODE = PathMode(mode=0o640, owner="noded", group="metad")
_DATA = f"{DATA}/"
_METADATA = "/var/run/ganeti/metadata/"
_NAMED = (
    (re.compile(_DATA + r"queue/(archive/[0-9]+/)?job-[0-9]+"), JOB_FILE_MODE),
    (re.compile(_DATA + r"queue/(archive/[0-9]+|lost\+found)"), JOB_DIRECTORY_MODE),
    (re.compile(_DATA + r"queue/lost\+found/[^/]+"), JOB_FILE_MODE),
)


def mode_of(path: str) -> PathMode | None:
    """Whose a path of a node with the root "/" is, by name alone; None for one that is in no table."""
    found = FILE_MODES.get(path) or DIRECTORY_MODES.get(path) or MOUNT_POINT_MODES.get(path)
    if found is None and path.startswith(_METADATA) and "/" not in path.removeprefix(_METADATA):
        return METADATA_FILE_MODE
    if found is not None or not path.startswith(_DATA):
        return found
    family = next((file for file in _OF_CLUSTER if file.is_family and file.is_at(path)), None)
    if family is not None:
        return mode_of_file(family)
    return next((mode for pattern, mode in _NAMED if pattern.fullmatch(path)), None)
