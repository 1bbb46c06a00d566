"""`gnt-cluster init`: check everything, then write everything, then start the daemons; a failure takes it all back."""

import os
import shutil
import time
from collections.abc import Collection
from pathlib import Path

import attrs

from ganeti_tx.bootstrap.cluster_settings import check_params, cluster_settings
from ganeti_tx.bootstrap.keys import (
    NodeKeys,
    new_cluster_keys,
    prepare_directories,
    utc_now,
    write_file,
    write_node_keys,
    write_private,
    write_spice_keys,
)
from ganeti_tx.bootstrap.network_checks import check_primary, check_secondary, check_unused, choose_netdev
from ganeti_tx.bootstrap.ports import check_ports
from ganeti_tx.bootstrap.problems import (
    BootstrapError,
    Problems,
    check_address,
    check_writable,
    try_resolve,
)
from ganeti_tx.bootstrap.settings import InitSettings
from ganeti_tx.bootstrap.ssh import check_ssh, forget_authorized, own_host_keys, own_root_key
from ganeti_tx.bootstrap.start import start, start_outward, stop_all
from ganeti_tx.config.new_cluster import FirstNode, new_cluster
from ganeti_tx.config.ssconf import ssconf_values
from ganeti_tx.errors import GanetiError
from ganeti_tx.model.config_data import ConfigData, encode
from ganeti_tx.model.default_allocators import all_names
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.ip_family import family_of_version
from ganeti_tx.model.node_files import AUTHORITY_KEY, CONFIG, FILES, RAPI_CERTIFICATE, SSCONF, NodeFile
from ganeti_tx.node.storage.file.allowed_paths import AllowedPaths
from ganeti_tx.runtime.allocators import allocator_fault
from ganeti_tx.runtime.certificates import Identity
from ganeti_tx.runtime.cluster_authority import rapi_bundle
from ganeti_tx.runtime.daemon_names import MASTER, NODE, ON_ALL_NODES, RAPI
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.names import own_name
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.ssconf_files import ssconf_bytes
from ganeti_tx.runtime.threads import InlineThreads


def init(paths: Paths, settings: InitSettings) -> None:
    """Make this node the master of a new cluster.

    @raise BootstrapError: every problem that was found; nothing was changed, or what was changed has been taken back.
    """
    if is_member(paths):  # then nothing else matters: addresses and ports are taken by that cluster
        raise BootstrapError(f"this node is part of a cluster already ({paths.data_dir}); see gnt-cluster destroy")
    problems = Problems()
    check_machine(paths, settings, problems)
    params = check_params(settings, problems)
    first, cluster_name, master_ip = find_first_node(paths, settings, problems)
    netdev = choose_netdev(settings, first.primary_ip, problems)
    problems.stop_if_any()
    if not settings.master_netdev:
        print(f"the cluster's address {master_ip} goes on {netdev} (--master-netdev)", flush=True)
    authority, keys = new_cluster_keys(cluster_name, first.name, [first.primary_ip])
    config = new_cluster(
        cluster_name=cluster_name,
        master_ip=master_ip,
        master_netdev=netdev,
        master=attrs.evolve(
            first,
            certificate_digest=keys.client_digest,
            server_digest=keys.server_digest,
            host_keys="\n".join(own_host_keys(paths)) or None,
            root_key=own_root_key(paths, settings, first.name) if settings.modify_ssh_setup else None,
        ),
        settings=cluster_settings(settings, params),
        entropy=os.urandom,
        now=time.time(),
    )
    try:
        write_cluster(paths, config, authority, keys)
        start_all(paths)
    except OSError as error:
        take_back(paths, why := f"cannot write {reason(error)}")
        raise BootstrapError(why) from None
    except BaseException as error:  # an interrupt, too, leaves nothing behind
        take_back(paths, str(error))
        raise


def check_machine(paths: Paths, settings: InitSettings, problems: Problems) -> None:
    """What must be true of this machine, whatever its network is."""
    check_storage(paths, settings, problems)
    check_allocator(paths, settings, problems)
    check_ssh(settings, problems)
    check_writable(problems, paths.data_dir)
    check_writable(problems, paths.run_dir)
    check_writable(problems, paths.log_dir)
    for word, kind in HYPERVISORS.items():
        if word in settings.enabled_hypervisors:
            missing = kind.missing(settings.hvparams.get(word, {}), Path.exists)
            problems.unless(missing is None, f"hypervisor {word.value}: {missing}")


def check_storage(paths: Paths, settings: InitSettings, problems: Problems) -> None:
    """The directories of the enabled templates are among those that this node allows."""
    allowed = AllowedPaths(RealFiles(InlineThreads()), paths)
    for word, template in TEMPLATES.items():
        if word in settings.enabled_disk_templates and template.check is not None:
            try:
                allowed.check_directory(getattr(settings, str(template.pool)))
            except GanetiError as error:
                problems.add(f"{error}; allow it there, or leave {word.value!r} out of --enabled-disk-templates")


def check_allocator(paths: Paths, settings: InitSettings, problems: Problems) -> None:
    """The default allocators, if there are to be any, are on this machine."""
    try:
        names = all_names(settings.default_iallocator or "")
    except GanetiError as error:
        problems.add(f"--default-iallocator: {error}")
        return
    for name in names:
        if (fault := allocator_fault(RealFiles(InlineThreads()), paths, name)) is not None:
            problems.add(f"--default-iallocator: {fault}")


def is_member(paths: Paths) -> bool:
    """Whether this node is part of a cluster."""
    return paths.config_file.exists() or paths.server_pem.exists()


def find_first_node(paths: Paths, settings: InitSettings, problems: Problems) -> tuple[FirstNode, str, str]:
    """This node's names and addresses; the cluster's full name and its address."""
    family = family_of_version(settings.primary_ip_version)
    name, primary_ip = try_resolve(paths, problems, "this node's name", own_name(), family)
    cluster_name, master_ip = try_resolve(paths, problems, "the cluster's name", settings.cluster_name, family)
    if primary_ip and primary_ip == master_ip:
        problems.add(
            f"the cluster {cluster_name} and the node {name} have the same address {primary_ip}; give it its own"
        )
    check_primary(paths, problems, f"this node's name {name!r}", primary_ip, family)
    check_primary(paths, problems, f"the cluster's name {cluster_name!r}", master_ip, family)
    check_unused(problems, f"cluster {cluster_name}", "" if primary_ip == master_ip else master_ip)
    check_address(problems, f"node {name}", primary_ip)
    check_ports(problems, paths, primary_ip, (*ON_ALL_NODES, RAPI))
    check_secondary(problems, "this node", settings.secondary_ip, family)
    return (
        FirstNode(name=name, primary_ip=primary_ip, secondary_ip=settings.secondary_ip or primary_ip),
        cluster_name,
        master_ip,
    )


def write_cluster(paths: Paths, config: ConfigData, authority: Identity, keys: NodeKeys) -> None:
    """Write every file of a master; the configuration comes last, since it makes the node a master."""
    prepare_directories(paths)
    write_file(paths, AUTHORITY_KEY, authority.key)
    name, address = config.cluster.cluster_name, config.cluster.master_ip
    write_file(paths, RAPI_CERTIFICATE, rapi_bundle(authority, name, address, utc_now()))
    write_spice_keys(paths, name)
    write_node_keys(paths, keys)
    for key, value in ssconf_values(config).items():
        write_private(paths.ssconf_file(key), ssconf_bytes(value), SSCONF.mode)
    write_file(paths, CONFIG, encode(config))


def start_all(paths: Paths) -> None:
    """Start what a master runs."""
    start(paths, NODE)
    start(paths, MASTER)
    start_outward(paths, (*ON_ALL_NODES, RAPI))


def take_back(paths: Paths, *why: str) -> None:
    """Stop the daemons and remove every file of the cluster.

    @param why: what made this necessary. @raise BootstrapError: some do not end; it says why, and which.
    """
    try:
        left = stop_all(paths)
    finally:
        forget(paths)
    if left:
        raise BootstrapError(*why, *left)


def forget(paths: Paths, but: Collection[NodeFile] = ()) -> None:
    """Remove the cluster's files from this node, but for some; instances' disks and logs stay."""
    for file in FILES:
        for path in paths.present(file) if file.of_cluster and file not in but else ():
            path.unlink(missing_ok=True)
    forget_authorized(paths)
    shutil.rmtree(paths.queue_dir, ignore_errors=True)
