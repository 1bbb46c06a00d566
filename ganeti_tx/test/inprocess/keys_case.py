"""Clusters whose nodes have all keys, and whether by the files that they have they would talk to each other."""

from collections.abc import Iterator, Sequence

from attrs import field, frozen

from ganeti_tx.bootstrap.keys import utc_now
from ganeti_tx.model import confd_keys
from ganeti_tx.node.cluster_membership import AdmittedCallers
from ganeti_tx.runtime.certificates import Identity, digest
from ganeti_tx.runtime.cluster_authority import is_issued_by, rapi_bundle
from ganeti_tx.runtime.pinned_certificates import PinnedCertificates
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.each_call import EachCallCase, Operation
from ganeti_tx.test.inprocess.node import MASTER_IP, SimulatedNode
from ganeti_tx.test.inprocess.node_keys import CLUSTER_NAME, cluster_keys
from ganeti_tx.test.node.test_cluster_membership import Connection

MAX = 1 << 20


@frozen
class KeyOperation(Operation):
    """An operation whose command waits for its job; `opcode` is what the command submits."""

    opcode: dict[str, object] = field(factory=dict)


def read(node: SimulatedNode, name: str) -> bytes:
    """A file of the cluster."""
    data: bytes = node.disk.read(node.paths.data_dir / name, MAX)
    return data


def talk_faults(cluster: InProcessCluster) -> Iterator[str]:
    """Which nodes would not talk to each other, and why: every candidate calls every node."""
    nodes = [node for node in cluster.nodes.values() if node.disk.exists(node.paths.server_pem)]
    for caller in nodes:
        if caller.disk.exists(caller.paths.config_file):
            for called in nodes:
                yield from (f"{caller.name} to {called.name}: {fault}" for fault in faults_between(caller, called))


def confd_accepts(node: SimulatedNode) -> Sequence[bytes]:
    """The keys with which questions may be signed."""
    path = node.paths.confd_keys
    listed = confd_keys.decode(read(node, path.name)) if node.disk.exists(path) else ()
    return read(node, "hmac.key"), *listed


def faults_between(caller: SimulatedNode, called: SimulatedNode) -> Iterator[str]:
    """What is wrong between two."""
    client, server = read(caller, "client.pem"), read(called, "server.pem")
    if not is_issued_by(client, read(called, "ca.pem")):
        yield "the caller's certificate is of no authority that is trusted there"
    if not is_issued_by(server, read(caller, "ca.pem")):
        yield "the certificate that is shown is of no authority that the caller trusts"
    if not AdmittedCallers(called.disk, called.paths).admitted(Connection(Identity.from_bundle(client, "client.pem"))):
        yield "the caller's certificate is not admitted"
    if not any(read(caller, "hmac.key") == key for key in confd_accepts(called)):
        yield "the caller's key of confd is not accepted"
    known = PinnedCertificates(caller.disk, caller.paths, caller.now).of(called.address)
    if digest(Identity.from_bundle(server, "server.pem").certificate) not in known:
        yield "the certificate that is shown is another one than is known"


def put_keys(cluster: InProcessCluster) -> None:
    """Have all keys on all nodes that a cluster of real nodes has there."""
    authority, keys = cluster_keys()
    shared = {path.rpartition("/")[2]: data for path, data in keys.shared.items()}
    rapi = rapi_bundle(authority, CLUSTER_NAME, MASTER_IP, utc_now())
    for node in cluster.members:
        for name, data in {**shared, "ca.key": authority.key, "rapi.pem": rapi}.items():
            put(node.disk, node.paths.data_dir / name, data, 0o440)


class KeysCase(EachCallCase):
    """Each cluster has an authority, whose key the candidates have, and a Remote API."""

    def new_cluster(self, seed: int = 0) -> InProcessCluster:
        """With keys on all nodes."""
        cluster = InProcessCluster(3, seed, voting=True)
        self.addCleanup(cluster.end)
        put_keys(cluster)
        return cluster

    def faults(self, cluster: InProcessCluster) -> list[str]:
        """Whether all talk, too."""
        return [*super().faults(cluster), *talk_faults(cluster)]

    def begin(self, cluster: InProcessCluster, operation: Operation) -> int:
        """As its command submits it."""
        assert isinstance(operation, KeyOperation)
        self.cluster = cluster
        return int(self.luxi().submit_job([{"reason": [], **operation.opcode}]))
