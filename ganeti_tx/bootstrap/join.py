"""How a node joins: the master makes its keys and sends them through the remote shell; the node checks, writes, starts."""

import os
import shlex
import socket
import subprocess
import sys

import msgspec

from ganeti_tx.bootstrap.init import forget, take_back
from ganeti_tx.bootstrap.keys import NodeKeys, node_keys, prepare_directories, write_node_keys, write_private
from ganeti_tx.bootstrap.network_checks import check_not_loopback
from ganeti_tx.bootstrap.ports import check_ports
from ganeti_tx.bootstrap.problems import (
    BootstrapError,
    Problems,
    check_address,
    check_writable,
    try_resolve,
)
from ganeti_tx.bootstrap.remote_program import NO_COMMAND, missing, remote_words
from ganeti_tx.bootstrap.start import start, start_outward, stop_all
from ganeti_tx.runtime.certificates import Identity
from ganeti_tx.runtime.daemon_names import NODE, ON_ALL_NODES
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pinned_certificates import remember_joining
from ganeti_tx.runtime.resolver import family_of_ssconf
from ganeti_tx.runtime.ssconf_files import SSCONF_MODE

REMOTE_SHELL_VARIABLE = "GANETI_REMOTE_SHELL"
SSH = "ssh -oBatchMode=yes -oConnectTimeout=10 -oEscapeChar=none"
JOIN_LIMIT = 120
MAX_SSCONF = 16 * 1024 * 1024
PROGRAM = "ganeti-bootstrap"


class JoinRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What `gnt-node add` asks; options that matter to the node's set-up only later travel in the opcode."""

    node_name: str
    secondary_ip: str | None = None
    readd: bool = False
    force_join: bool = False
    node_setup: bool = False
    ssh_key_check: bool = True


class JoinDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What a node needs in order to be one; it travels over the remote shell's standard input only."""

    cluster_name: str
    node_name: str
    primary_ip: str
    secondary_ip: str | None
    force_join: bool
    authority: bytes
    server: bytes
    client: bytes
    hmac_key: bytes
    domain_secret: bytes
    ssconf: dict[str, str]

    def __repr__(self) -> str:
        return f"<JoinDocument of {self.node_name}>"


def send(paths: Paths, request: JoinRequest) -> None:
    """On the master: set the node up. @raise BootstrapError: what the node found, or why it could not be asked."""
    problems = Problems()
    problems.unless(
        paths.authority_key.exists(), f"this node is not the master of a cluster (no {paths.authority_key})"
    )
    name, address = try_resolve(paths, problems, "the node's name", request.node_name, cluster_family(paths))
    check_not_loopback(paths, problems, f"the node's name {request.node_name!r}", address)
    # its daemons would go on with the old keys, which no node would take any more
    master = paths.ssconf_file("master_node")
    is_master = master.exists() and master.read_text().strip() == name
    problems.unless(not is_master, f"{name} is the master, which cannot be added again")
    problems.stop_if_any()
    authority = Identity(paths.authority_pem.read_bytes(), paths.authority_key.read_bytes())
    keys = node_keys(authority, name, [address], paths.hmac_key.read_bytes(), paths.cluster_domain_secret.read_bytes())
    remember_joining(paths, address, keys.server_digest)
    document = JoinDocument(
        cluster_name=(paths.ssconf_file("cluster_name")).read_text().strip(),
        node_name=name,
        primary_ip=address,
        secondary_ip=request.secondary_ip,
        force_join=request.force_join or request.readd,
        authority=keys.authority,
        server=keys.server.bundle,
        client=keys.client.bundle,
        hmac_key=keys.hmac_key,
        domain_secret=keys.domain_secret,
        ssconf={path.name.removeprefix("ssconf_"): path.read_text() for path in paths.data_dir.glob("ssconf_*")},
    )
    call_remote(name, msgspec.json.encode(document))


def cluster_family(paths: Paths) -> socket.AddressFamily:
    """Of the nodes' primary addresses; either while this node is in no cluster."""
    ssconf = paths.ssconf_file("primary_ip_family")
    return family_of_ssconf(ssconf.read_text() if ssconf.exists() else "")


def call_remote(host: str, document: bytes) -> None:
    """Run `ganeti-bootstrap join` on a host. @raise BootstrapError: it failed; its words are in the text."""
    shell = shlex.split(os.environ.get(REMOTE_SHELL_VARIABLE) or SSH)
    argv = [*shell, host, *remote_words(PROGRAM, "join")]
    try:
        done = subprocess.run(argv, input=document, capture_output=True, timeout=JOIN_LIMIT, check=False)
    except subprocess.TimeoutExpired:
        raise BootstrapError(f"node {host} was not set up within {JOIN_LIMIT} s")
    except OSError as error:
        raise BootstrapError(f"cannot run {shell[0]} ({error.strerror}); it is what reaches new nodes")
    said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
    if done.returncode == NO_COMMAND:
        raise missing(host, PROGRAM)
    if done.returncode != 0:
        raise BootstrapError(*(f"node {host}: {line}" for line in said.splitlines() or [f"status {done.returncode}"]))


def receive(paths: Paths, data: bytes) -> None:
    """On the node: become a member. @raise BootstrapError: every problem; nothing was changed then."""
    try:
        document = msgspec.json.decode(data, type=JoinDocument)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise BootstrapError(f"cannot read what the master sent: {error}")
    problems = Problems()
    check_membership(paths, document, problems)
    check_writable(problems, paths.data_dir)
    check_writable(problems, paths.run_dir)
    if document.force_join or same_cluster(paths, document):
        for left in stop_all(paths):  # it may have been a master, of this cluster or of another
            problems.add(left)
    check_address(problems, f"node {document.node_name}", document.primary_ip)
    check_ports(problems, paths, document.primary_ip, ON_ALL_NODES)
    if document.secondary_ip is not None:
        check_address(problems, "the secondary address", document.secondary_ip, 0)
    problems.stop_if_any()
    become_member(paths, document)


def same_cluster(paths: Paths, document: JoinDocument) -> bool:
    """Whether this node has this cluster's authority already, from an attempt that was not finished."""
    return paths.authority_pem.exists() and paths.authority_pem.read_bytes() == document.authority


def check_membership(paths: Paths, document: JoinDocument, problems: Problems) -> None:
    """A node is in one cluster at most."""
    if document.force_join or same_cluster(paths, document) or not paths.server_pem.exists():
        return
    problems.add(f"is part of a cluster already ({paths.server_pem}); give --force-join if that one is gone")


def become_member(paths: Paths, document: JoinDocument) -> None:
    """Write the files and start the node daemon; a failure takes it back."""
    server = Identity.from_bundle(document.server, "server.pem")
    client = Identity.from_bundle(document.client, "client.pem")
    try:
        if not same_cluster(paths, document):
            forget(paths)  # what another cluster has left would count as newer than all that this one sends
        prepare_directories(paths)
        for key, text in document.ssconf.items():
            write_private(paths.ssconf_file(key), text.encode(), SSCONF_MODE)
        write_node_keys(paths, NodeKeys(document.authority, server, client, document.hmac_key, document.domain_secret))
        start(paths, NODE)
        start_outward(paths, ON_ALL_NODES)
    except OSError as error:
        take_back(paths, why := f"cannot write {reason(error)}")
        raise BootstrapError(why) from None
    except BaseException as error:  # an interrupt, too, leaves nothing behind
        take_back(paths, str(error))
        raise
    print(f"node {document.node_name} is ready", file=sys.stdout)
