"""How the master has a node join: it makes its keys and sends them through the remote shell; and how it takes that back."""

import sys

from ganeti_tx.bootstrap.join_documents import JoinDocument, JoinRequest, LeaveDocument, to_bytes
from ganeti_tx.bootstrap.keys import node_keys, shared_keys
from ganeti_tx.bootstrap.network_checks import check_primary
from ganeti_tx.bootstrap.problems import BootstrapError, Problems, try_resolve
from ganeti_tx.bootstrap.remote_call import RemoteCall, RemoteFailure
from ganeti_tx.model.node_files import SSCONF
from ganeti_tx.runtime.cluster_authority import signing_authority
from ganeti_tx.runtime.names import cluster_family
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pinned_certificates import is_counted, joining_digest, remember_joining


def send(paths: Paths, request: JoinRequest) -> None:
    """Set the node up. @raise BootstrapError: what the node found, or why it could not be asked; it is as it was then."""
    problems = Problems()
    problems.unless(
        paths.authority_key.exists(), f"this node is not the master of a cluster (no {paths.authority_key})"
    )
    name, address = find(paths, request, problems)
    check_primary(paths, problems, f"the node's name {request.node_name!r}", address, cluster_family(paths))
    # its daemons would go on with the old keys, which no node would take any more
    master = paths.ssconf_file("master_node")
    is_master = master.exists() and master.read_text().strip() == name
    problems.unless(not is_master, f"{name} is the master, which cannot be added again")
    problems.stop_if_any()
    trusted = paths.authority_pem.read_bytes()
    authority = signing_authority(trusted, paths.authority_key.read_bytes(), str(paths.authority_key))
    keys = node_keys(authority, name, [address], shared_keys(paths))
    remember_joining(paths, address, keys.server_digest)
    document = JoinDocument(
        cluster_name=(paths.ssconf_file("cluster_name")).read_text().strip(),
        node_name=name,
        primary_ip=address,
        secondary_ip=request.secondary_ip,
        force_join=request.force_join or request.readd,
        readd=request.readd,
        authority=trusted,
        server=keys.server.bundle,
        client=keys.client.bundle,
        shared=dict(keys.shared),
        ssconf={path.name.removeprefix("ssconf_"): path.read_text() for path in paths.present(SSCONF)},
    )
    remote = remote_call(paths, request, name)
    try:
        remote.run("join", to_bytes(document))
    except RemoteFailure as failure:
        paths.joining_file(address).unlink(missing_ok=True)
        if failure.unknown:  # else the node has taken it back by itself
            say(f"{failure}; taking back what was done on node {name}")
            recall(paths, remote, name)
        raise


def take_back(paths: Paths, request: JoinRequest) -> None:
    """Have a node forget that it joined, unless it has become one of the cluster's meanwhile.

    @raise BootstrapError: the node did not do it.
    """
    problems = Problems()
    name, address = find(paths, request, problems)
    problems.stop_if_any()
    digest = joining_digest(paths, address)
    if digest is None:  # it was taken back already
        return
    if is_counted(paths, name, digest):
        say(f"node {name} is in the cluster, so it stays set up")
        return
    paths.joining_file(address).unlink(missing_ok=True)
    recall(paths, remote_call(paths, request, name), name)


def recall(paths: Paths, remote: RemoteCall, name: str) -> None:
    """Tell the node. @raise BootstrapError: it did not do it."""
    try:
        said = remote.run("leave", to_bytes(LeaveDocument(node_name=name, authority=paths.authority_pem.read_bytes())))
    except RemoteFailure as failure:
        what = f"node {name} may keep keys and daemons of this cluster: there, 'ganeti-bootstrap destroy < /dev/null' ends that"
        raise BootstrapError(*failure.lines, what) from None
    for line in said:
        say(line)


def find(paths: Paths, request: JoinRequest, problems: Problems) -> tuple[str, str]:
    """The node's full name and address."""
    return try_resolve(paths, problems, "the node's name", request.node_name, cluster_family(paths))


def remote_call(paths: Paths, request: JoinRequest, name: str) -> RemoteCall:
    """The way to the node."""
    return RemoteCall(paths, name, request.ssh_key_check, request.ssh_port)


def say(line: str) -> None:
    """To the operator."""
    print(line, file=sys.stderr, flush=True)
