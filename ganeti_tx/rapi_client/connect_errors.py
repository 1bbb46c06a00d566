"""What a client says when it cannot talk to the server."""

import ssl

from ganeti_tx.errors import one_line
from ganeti_tx.rapi_client.errors import CertificateError, NoAnswerError
from ganeti_tx.rapi_client.server import Server

#: To who calls from a program of his own.
ADVICE = "; pass the cluster's rapi.pem or its fingerprint as `trust`"


def connect_error(server: Server, error: OSError) -> NoAnswerError:
    """No connection could be made."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return distrusted(server, error.verify_message)
    if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return NoAnswerError(f"{server.netloc} closed the connection before TLS had begun")
    if isinstance(error, ssl.SSLError):
        return CertificateError(f"No TLS connection to {server.netloc}: {one_line(error.reason or error)}")
    if isinstance(error, TimeoutError):
        return NoAnswerError(f"{server.netloc} took no connection within {server.connect_timeout:g} seconds")
    return NoAnswerError(f"Cannot connect to {server.netloc}: {one_line(error.strerror or error)}")


def distrusted(server: Server, reason: str) -> CertificateError:
    """The server's certificate is not taken."""
    return CertificateError(f"The certificate of {server.netloc} cannot be trusted: {one_line(reason)}{ADVICE}")


def silent(server: Server, seconds: float) -> NoAnswerError:
    """The time is over."""
    return NoAnswerError(f"No answer from {server.netloc} within {seconds:g} seconds")


def lost(server: Server, error: BaseException | None) -> NoAnswerError:
    """The connection broke."""
    reason = one_line(getattr(error, "strerror", None) or error or "")
    return NoAnswerError(f"The connection to {server.netloc} was lost: {reason or type(error).__name__}")
