"""Faults of the configuration, the certificates, and the files that nodes have alike."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from ganeti_tx.model.node_files import RAPI_ROLES, RAPI_USERS
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.runtime.certificates import VALIDITY, issue_server
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.node_keys import cluster_keys, keys_of
from ganeti_tx.test.inprocess.verify_faults.fault import ADD, ClusterFault, cluster_with, mirrored, node_with, run


def ends_in(days: float) -> Callable[[InProcessCluster], None]:
    """A certificate of the master has been good for long, and ends after so many days."""

    def do(cluster: InProcessCluster) -> None:
        authority, _ = cluster_keys()
        end = datetime.fromtimestamp(cluster.time.seconds(), UTC) + timedelta(days=days, hours=1)
        server = issue_server(authority, [cluster.master.name], end - VALIDITY)
        put(cluster.master.disk, cluster.paths.server_pem, server.bundle)

    return do


def foreign_certificate(number: int, other: int) -> Callable[[InProcessCluster], None]:
    """A node shows the certificate of another."""

    def do(cluster: InProcessCluster) -> None:
        whose = cluster.node(other)
        put(cluster.node(number).disk, cluster.paths.client_pem, keys_of(whose.name, whose.address).client.bundle)

    return do


def two_keys(cluster: InProcessCluster) -> None:
    """One node has another key than the others."""
    for number in (1, 2, 3):
        put(cluster.node(number).disk, cluster.paths.hmac_key, b"secret" if number < 3 else b"another")


def same_tags(cluster: InProcessCluster) -> None:
    """Two instances that should be apart are on one node."""
    run(cluster, "gnt-cluster add-tags htools:iextags:web", ADD, ADD.replace("web1", "web2"))
    run(cluster, "gnt-instance add-tags web1 web:1", "gnt-instance add-tags web2 web:1")


def kept_to_group(cluster: InProcessCluster) -> None:
    """A role, and a group."""
    for node in cluster.members:
        put(node.disk, cluster.paths.of(RAPI_ROLES), b"ops write,group=rack9\n")
    run(cluster, "gnt-group add rack9", "gnt-group rename rack9 rack8")


FAULTS = (
    ClusterFault(
        VerifyCode.ECLUSTERCFG,
        "the pool of candidates is of size 0",
        "candidate pool size 0",
        prepare=cluster_with(candidate_pool_size=0),
    ),
    ClusterFault(
        VerifyCode.ECLUSTERCFG,
        "the Remote API keeps people to a node group that was given another name",
        "1 role kept to group=rack9 by the Remote API (on the master 'ganeti-rapi-access scope list' tells which): there is no such"
        " node group, so nothing is in that scope",
        kept_to_group,
        warning=True,
    ),
    ClusterFault(
        VerifyCode.ECLUSTERCFG,
        "a port is free and in use",
        "TCP port 11000 is in use and in the pool of free ports",
        prepare=mirrored(cluster_with(tcpudp_port_pool=(11000,), highest_used_port=11010)),
    ),
    ClusterFault(
        VerifyCode.ECLUSTERCFG,
        "an instance has a parameter that there is not",
        "instance web1.example.com: ",
        prepare=mirrored(beparams={"horsepower": 3}),
    ),
    ClusterFault(
        VerifyCode.ECLUSTERCERT,
        "a certificate is overwritten",
        "server.pem has no certificate",
        lambda cluster: put(cluster.master.disk, cluster.paths.server_pem, b"nonsense"),
    ),
    ClusterFault(VerifyCode.ECLUSTERCERT, "a certificate ends in 3 days", "expires in 3 days", ends_in(3)),
    ClusterFault(
        VerifyCode.ECLUSTERCERT, "a certificate ends in 20 days", "expires in 20 days", ends_in(20), warning=True
    ),
    ClusterFault(VerifyCode.ECLUSTERCERT, "a certificate has ended", "expired 2 days ago", ends_in(-2)),
    ClusterFault(
        VerifyCode.ECLUSTERCLIENTCERT,
        "a candidate shows another's certificate",
        "Client certificate digest of master candidate 'node2.example.com' does not match",
        foreign_certificate(2, 3),
    ),
    ClusterFault(
        VerifyCode.ECLUSTERCLIENTCERT,
        "a node that is no candidate shows the certificate of one",
        "Node 'node3.example.com' uses the client certificate of another node: node2.example.com",
        foreign_certificate(3, 2),
        node_with(3, master_candidate=False),
    ),
    ClusterFault(
        VerifyCode.ECLUSTERCLIENTCERT,
        "a node that is no candidate is in the candidates' map",
        "Node 'node3.example.com' is no master candidate, but has an entry",
        prepare=node_with(3, master_candidate=False),
    ),
    ClusterFault(
        VerifyCode.ECLUSTERDANGLINGNODES,
        "a node's group is not configured",
        "belong to a non existing group: node3.example.com",
        prepare=node_with(3, group="lost-uuid"),
    ),
    ClusterFault(
        VerifyCode.ECLUSTERDANGLINGINST,
        "an instance's node is not configured",
        "instances have a non-existing primary-node: web1.example.com",
        prepare=mirrored(primary_node="lost-uuid"),
    ),
    ClusterFault(
        VerifyCode.ECLUSTERFILECHECK,
        "a key is on the master only",
        "hmac.key is missing from node(s)",
        lambda cluster: put(cluster.master.disk, cluster.paths.hmac_key, b"secret"),
    ),
    ClusterFault(
        VerifyCode.ECLUSTERFILECHECK,
        "a node has another key than the others",
        "hmac.key found with 2 different checksums (variant 1 on node1.example.com, node2.example.com",
        two_keys,
    ),
    ClusterFault(
        VerifyCode.ECLUSTERFILECHECK,
        "a user of the Remote API is added on one node only",
        "rapi/users is optional, but it must exist on all or no nodes (not found on node1.example.com, node3.example.com)",
        lambda cluster: put(cluster.node(2).disk, cluster.paths.of(RAPI_USERS), b"mallory secret write\n"),
    ),
    ClusterFault(
        VerifyCode.EEXTAGS, "two instances with an exclusion tag are on a node", "['web:1']", same_tags, warning=True
    ),
)
