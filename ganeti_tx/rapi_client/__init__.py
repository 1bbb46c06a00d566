"""Clients of the Remote API: `Client` blocks; `on_twisted.client` and `on_asyncio.client` make ones that wait.

All three have the same methods, which are listed in calls.py. This one imports no Twisted.
"""

from ganeti_tx.rapi_client.blocking import Client
from ganeti_tx.rapi_client.errors import (
    AnswerError,
    CertificateError,
    ClientError,
    NoAnswerError,
    RapiError,
    StillRunningError,
)
from ganeti_tx.rapi_client.following import UNKNOWN
from ganeti_tx.rapi_client.server import Login, Server, Token
from ganeti_tx.rapi_client.trust import authority_file, pin

__all__ = [
    "UNKNOWN",
    "AnswerError",
    "CertificateError",
    "Client",
    "ClientError",
    "Login",
    "NoAnswerError",
    "RapiError",
    "Server",
    "StillRunningError",
    "Token",
    "authority_file",
    "pin",
]
