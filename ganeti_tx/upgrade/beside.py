"""What lies beside the configuration and came with later versions: made where it is missing."""

import time
from collections.abc import Callable

from ganeti_tx.bootstrap.keys import new_secret, spice_keys, utc_now
from ganeti_tx.errors import GanetiError
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.node_files import (
    AUTHORITY,
    AUTHORITY_KEY,
    DOMAIN_SECRET,
    FILE_STORAGE_PATHS,
    HMAC_KEY,
    RAPI_CERTIFICATE,
    RAPI_USERS,
    SPICE_CERTIFICATE,
)
from ganeti_tx.runtime.certificates import Identity, create_authority
from ganeti_tx.runtime.cluster_authority import rapi_bundle, signing_authority
from ganeti_tx.upgrade.data_directory import DataDirectory

LIST_HEAD = "# List automatically generated from configuration by\n# cfgupgrade at {}\n"
RAPI_DIRECTORY_MODE = 0o750

Say = Callable[[str], None]


def move_rapi_users(place: DataDirectory, say: Say) -> None:
    """Into the directory in which they are since 2.4; a link stays where they were. @raise GanetiError: there are two files."""
    old, new = place.old_rapi_users, place.at(RAPI_USERS)
    if old.is_symlink() or not old.exists():
        return
    if new.exists():
        raise GanetiError(f"Found pre-2.4 RAPI users file at {old}, but another file already exists at {new}")
    say(f"Found pre-2.4 RAPI users file at {old}, renaming to {new}")
    if not place.dry_run:
        new.parent.mkdir(RAPI_DIRECTORY_MODE, exist_ok=True)
        old.rename(new)
        old.symlink_to(new)


def write_storage_paths(place: DataDirectory, cluster: Cluster, say: Say) -> None:
    """Since 2.7 only what an administrator has listed may hold disks: what the cluster was set to, before he lists more."""
    directories = [each for each in (cluster.file_storage_dir, cluster.shared_file_storage_dir) if each]
    if place.storage_paths.exists():
        return
    say(f"Writing the directories of file storage to {place.storage_paths}")
    text = LIST_HEAD.format(time.asctime()) + "".join(f"{each}\n" for each in directories)
    place.write(place.storage_paths, text.encode(), FILE_STORAGE_PATHS.mode)


def make_missing_keys(place: DataDirectory, cluster: Cluster, say: Say) -> None:
    """The secrets and certificates that a cluster has."""
    for file in (HMAC_KEY, DOMAIN_SECRET):
        if not place.at(file).exists():
            say(f"Making {place.at(file)}")
            place.write(place.at(file), new_secret(file), file.mode)
    if not place.at(RAPI_CERTIFICATE).exists():
        say(f"Making {place.at(RAPI_CERTIFICATE)}")
        bundle = rapi_bundle(authority(place, cluster), cluster.cluster_name, cluster.master_ip, utc_now())
        place.write(place.at(RAPI_CERTIFICATE), bundle, RAPI_CERTIFICATE.mode)
    if not place.at(SPICE_CERTIFICATE).exists():
        say(f"Making {place.at(SPICE_CERTIFICATE)}")
        for file, data in spice_keys(cluster.cluster_name).items():
            place.write(place.at(file), data, file.mode)


def authority(place: DataDirectory, cluster: Cluster) -> Identity:
    """The cluster's; one that is nobody's afterwards where there is none, as in a data directory of Ganeti's."""
    trusted, key = place.at(AUTHORITY), place.at(AUTHORITY_KEY)
    if trusted.exists() and key.exists():
        return signing_authority(trusted.read_bytes(), key.read_bytes(), str(key))
    return create_authority(cluster.cluster_name, utc_now())
