"""Who may do what with each file and directory (Ganeti 3.0 configuration table, "path_modes"), and making it so."""

import grp
import pwd
from collections.abc import Callable
from pathlib import Path

from attrs import frozen

from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

#: The user each part runs as, and its group (Ganeti 3.0 configuration table, "daemon_users").
USERS = {
    "masterd": "gnt-masterd",
    "luxid": "gnt-masterd",
    "wconfd": "gnt-masterd",
    "confd": "gnt-confd",
    "rapi": "gnt-rapi",
    "noded": "root",
    "mond": "root",
}
GROUPS = {
    "masterd": "gnt-masterd",
    "luxid": "gnt-luxid",
    "wconfd": "gnt-masterd",
    "confd": "gnt-confd",
    "rapi": "gnt-rapi",
    "noded": "root",
    "mond": "root",
    "daemons": "gnt-daemons",
    "admin": "gnt-admin",
}

#: (uid, gid) of a user and a group by their system names, or None where they cannot be given.
Owners = Callable[[str, str], tuple[int, int] | None]


@frozen
class PathMode:
    """The permission bits of one path and, by part, whose it is."""

    mode: int
    owner: str
    group: str


def _table(text: str) -> dict[str, PathMode]:
    """Lines of "path mode owner group" into a table, in their order."""
    rows = [line.split() for line in text.strip().splitlines()]
    return {path: PathMode(int(mode, 8), owner, group) for path, mode, owner, group in rows}


DIRECTORY_MODES = _table("""
/var/lib/ganeti 0755 masterd masterd
/var/lib/ganeti/queue 0750 masterd daemons
/var/lib/ganeti/queue/archive 0750 masterd daemons
/var/lib/ganeti/rapi 0750 rapi masterd
/var/log/ganeti 0770 masterd daemons
/var/log/ganeti/cleaner 0750 noded noded
/var/log/ganeti/kvm 0750 noded daemons
/var/log/ganeti/master-cleaner 0750 masterd masterd
/var/log/ganeti/os 0750 noded daemons
/var/log/ganeti/xen 0750 noded daemons
/var/run/ganeti 0775 masterd daemons
/var/run/ganeti/bdev-cache 0755 noded masterd
/var/run/ganeti/crypto 0700 noded masterd
/var/run/ganeti/import-export 0755 noded masterd
/var/run/ganeti/instance-disks 0755 noded masterd
/var/run/ganeti/instance-reason 0755 noded noded
/var/run/ganeti/livelocks 0750 masterd daemons
/var/run/ganeti/luxidmessages 0750 masterd daemons
/var/run/ganeti/socket 0770 masterd daemons
/var/run/ganeti/uid-pool 0750 noded masterd
""")

FILE_MODES = _table("""
/var/lib/ganeti/client.pem 0440 masterd masterd
/var/lib/ganeti/cluster-domain-secret 0640 masterd masterd
/var/lib/ganeti/config.data 0640 masterd confd
/var/lib/ganeti/hmac.key 0440 confd masterd
/var/lib/ganeti/known_hosts 0644 masterd masterd
/var/lib/ganeti/queue/drain 0644 masterd daemons
/var/lib/ganeti/queue/lock 0640 masterd daemons
/var/lib/ganeti/queue/serial 0640 masterd daemons
/var/lib/ganeti/queue/version 0640 masterd daemons
/var/lib/ganeti/rapi.pem 0440 rapi masterd
/var/lib/ganeti/rapi/ldap 0640 rapi masterd
/var/lib/ganeti/rapi/roles 0640 rapi masterd
/var/lib/ganeti/rapi/tokens 0640 rapi masterd
/var/lib/ganeti/rapi/users 0640 rapi masterd
/var/lib/ganeti/server.pem 0440 masterd masterd
/var/lib/ganeti/spice-ca.pem 0440 noded masterd
/var/lib/ganeti/spice.pem 0440 noded masterd
/var/lib/ganeti/watcher.pause 0644 masterd masterd
/var/log/ganeti/conf-daemon.log 0600 confd masterd
/var/log/ganeti/luxi-daemon.log 0600 luxid masterd
/var/log/ganeti/master-daemon.log 0600 masterd masterd
/var/log/ganeti/monitoring-daemon.log 0600 mond masterd
/var/log/ganeti/node-daemon.log 0600 noded masterd
/var/log/ganeti/rapi-daemon.log 0600 rapi masterd
/var/run/ganeti/socket/ganeti-master 0660 masterd daemons
/var/run/ganeti/socket/ganeti-query 0660 luxid daemons
""")

#: Every ssconf file; and every file of a job.
SSCONF_MODE = PathMode(0o444, "noded", "noded")
JOB_FILE_MODE = PathMode(0o640, "masterd", "daemons")

#: Directories the administrator owns: created where they are missing, never changed.
ADMINISTRATORS_DIRECTORIES = ("/etc/ganeti", "/var/lock")
ADMINISTRATORS_MODE = 0o755


def ensure_directories(paths: Paths, files: IFiles, owners: Owners) -> None:
    """Create every directory with its mode and, where `owners` knows them, its owner and group; repair what differs.

    @raise OSError: one could not be created or changed.
    """
    for path in ADMINISTRATORS_DIRECTORIES:
        files.mkdir(paths.root / path.lstrip("/"), ADMINISTRATORS_MODE)
    for path in DIRECTORY_MODES:  # the way there is open to all, as the programs of several users meet in it
        files.mkdir((paths.root / path.lstrip("/")).parent, ADMINISTRATORS_MODE)
    for path, wanted in DIRECTORY_MODES.items():
        _ensure_directory(files, paths.root / path.lstrip("/"), wanted, owners)


def _ensure_directory(files: IFiles, path: Path, wanted: PathMode, owners: Owners) -> None:
    files.mkdir(path, wanted.mode)
    owner = owners(USERS[wanted.owner], GROUPS[wanted.group])
    if owner is not None:
        files.set_owner(path, *owner)
    if files.stat(path).mode != wanted.mode:
        files.set_mode(path, wanted.mode)


def no_owners(_user: str, _group: str) -> None:
    """`Owners` of a process that may not give files away."""


def system_owners(user: str, group: str) -> tuple[int, int] | None:
    """`Owners` of a process that runs as root: None for a user or group this machine does not have."""
    try:
        return pwd.getpwnam(user).pw_uid, grp.getgrnam(group).gr_gid
    except KeyError:
        return None
