"""The connection between the two ends: mutual TLS, and each checks the other's name."""

import socket
import ssl
import time
from pathlib import Path

from ganeti_tx.model.ip_family import family_of
from ganeti_tx.node.transfer.arrivals import Arrivals
from ganeti_tx.node.transfer.spec import Spec
from ganeti_tx.runtime.certificates import digest
from ganeti_tx.runtime.pinned_certificates import counted

#: Seconds for one attempt to connect, with its handshake, and before the next.
ATTEMPT, AGAIN = 20.0, 0.5
PURPOSES = {True: ssl.PROTOCOL_TLS_CLIENT, False: ssl.PROTOCOL_TLS_SERVER}


class TransferError(Exception):
    """Why a transfer cannot go on; one line."""


def context_of(spec: Spec) -> ssl.SSLContext:
    """Takes only certificates of the cluster's authority, or the one that was agreed upon, and shows the own.

    @raise OSError: a file cannot be read.
    """
    context = ssl.SSLContext(PURPOSES[spec.sends])
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.verify_mode = ssl.CERT_REQUIRED
    context.check_hostname = spec.sends and not spec.certificate
    if spec.certificate:
        context.load_verify_locations(cadata=spec.certificate)
    else:
        context.load_verify_locations(spec.authority)
    context.load_cert_chain(spec.identity, spec.key or None)
    return context


def connected(spec: Spec) -> ssl.SSLSocket:
    """A connection to the end that receives. @raise TransferError: there is none in time."""
    end, context = time.monotonic() + spec.connect_limit, context_of(spec)
    while True:
        try:
            plain = socket.create_connection((spec.host, spec.port), timeout=ATTEMPT)
            peer = context.wrap_socket(plain, server_hostname=spec.peer, suppress_ragged_eofs=False)
            check_known(spec, peer)
            return ready(peer, spec.patience)
        except OSError as error:
            if time.monotonic() + AGAIN > end:
                raise TransferError(f"cannot connect to {spec.peer} ({spec.host}, port {spec.port}): {error}") from None
            time.sleep(AGAIN)


def check_known(spec: Spec, peer: ssl.SSLSocket) -> None:
    """@raise TransferError: it is not the node, though it has a certificate with its name: who was a master candidate could
    sign one. A node that the cluster knows by no certificate is known by the authority's word.
    """
    if spec.certificate and not is_the_one(spec, peer):
        peer.close()
        raise TransferError(
            f"{spec.peer} ({spec.host}, port {spec.port}) shows another certificate than was agreed upon"
        )
    known = counted(Path(spec.pins), spec.peer) if spec.pins else []
    shown = ssl.DER_cert_to_PEM_cert(peer.getpeercert(binary_form=True) or b"")
    if known and digest(shown.encode()) not in known:
        peer.close()
        raise TransferError(
            f"{spec.peer} ({spec.host}, port {spec.port}) shows another certificate than the one that the cluster knows it by"
        )


def listening(spec: Spec) -> socket.socket:
    """A listener at a free port of the own address."""
    return socket.create_server((spec.host, 0), family=family_of(spec.host))


def accepted(spec: Spec, listener: socket.socket) -> ssl.SSLSocket:
    """The connection of the end that sends; others are hung up. @raise TransferError: it does not come in time."""
    end = time.monotonic() + spec.connect_limit
    with Arrivals(listener, context_of(spec)) as arrivals:
        while (left := end - time.monotonic()) > 0:
            for peer in arrivals.within(min(left, AGAIN)):
                if is_the_one(spec, peer) if spec.certificate else spec.peer in names_of(peer):
                    return ready(peer, spec.patience)
                peer.close()
    raise TransferError(f"{spec.peer} has not connected within {spec.connect_limit:.0f} seconds")


def is_the_one(spec: Spec, peer: ssl.SSLSocket) -> bool:
    """Whether the other end shows the certificate that was agreed upon, and none that was signed with its key."""
    return peer.getpeercert(binary_form=True) == ssl.PEM_cert_to_DER_cert(spec.certificate)


def names_of(peer: ssl.SSLSocket) -> list[str]:
    """The host names in the certificate that the other end has shown."""
    shown = (peer.getpeercert() or {}).get("subjectAltName", ())
    return [str(entry[1]) for entry in shown if entry[0] == "DNS"]


def ready(peer: ssl.SSLSocket, patience: float) -> ssl.SSLSocket:
    """With the limits that hold while bytes flow; a peer that has lost its power is noticed."""
    peer.settimeout(patience)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in ((socket.TCP_KEEPIDLE, 60), (socket.TCP_KEEPINTVL, 10), (socket.TCP_KEEPCNT, 5)):
        peer.setsockopt(socket.IPPROTO_TCP, option, value)
    return peer
