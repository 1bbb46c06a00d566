"""The HTTP agent that makes node calls from this node, with its keys."""

from typing import Any

from twisted.web.client import Agent, HTTPConnectionPool, _HTTP11ClientFactory

from ganeti_tx.rpc.client import CONNECT_LIMIT, HttpNodeRpc
from ganeti_tx.runtime.certificates import Identity
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.tls import NodeTrust

MAX_KEY_FILE = 64 * 1024
#: Connections to one node kept open, and seconds that an unused one stays.
KEPT_CONNECTIONS = 4
KEPT_SECONDS = 60


class QuietFactory(_HTTP11ClientFactory):
    """Does not write into the log that it starts and stops, for each connection."""

    noisy = False


class QuietPool(HTTPConnectionPool):
    """Connections without noise; Twisted has no other way to choose their factory."""

    _factory = QuietFactory


def node_rpc(reactor: Any, files: IFiles, paths: Paths) -> HttpNodeRpc:
    """Node calls with this node's client certificate. @raise OSError, X509CertError: its keys cannot be read."""
    identity = Identity.from_bundle(files.read(paths.client_pem, MAX_KEY_FILE), str(paths.client_pem))
    trust = NodeTrust(identity, files.read(paths.authority_pem, MAX_KEY_FILE))
    pool = QuietPool(reactor, persistent=True)
    pool.maxPersistentPerHost = KEPT_CONNECTIONS
    pool.cachedConnectionTimeout = KEPT_SECONDS
    pool.retryAutomatically = False
    return HttpNodeRpc(Agent(reactor, trust, connectTimeout=CONNECT_LIMIT, pool=pool), reactor)
