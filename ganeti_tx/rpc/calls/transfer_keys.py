"""Calls about the keys by which two clusters know one another while an instance moves (reference: remote-export.json)."""

from collections.abc import Iterable
from typing import Annotated, ClassVar

import msgspec

from ganeti_tx.model.remote_moves import KEY_NAME
from ganeti_tx.rpc.calls.base import FAST, NodeCall, Question, R

#: Names are directories on the node.
KeyName = Annotated[str, msgspec.Meta(pattern=rf"^{KEY_NAME.pattern}\Z")]


class KeyCall(NodeCall[R], frozen=True, kw_only=True):
    """A call that changes a key. The master gives the name, so that it can be removed whatever becomes of an answer."""

    key: KeyName

    def reserves(self) -> Iterable[str]:
        """The key."""
        return [f"key {self.key}"]


class X509CertCreate(KeyCall[str], frozen=True, kw_only=True):
    """Make a key with a certificate that is good for some seconds; the answer is the certificate. One that is there stays."""

    name: ClassVar[str] = "x509_cert_create"
    timeout: ClassVar[float] = FAST
    validity: int


class X509CertRead(Question[str | None], frozen=True, kw_only=True):
    """What is the certificate of a key? None when there is none."""

    name: ClassVar[str] = "x509_cert_read"
    timeout: ClassVar[float] = FAST
    key: KeyName


class X509CertRemove(KeyCall[None], frozen=True, kw_only=True):
    """Remove a key; one that is not there is no error."""

    name: ClassVar[str] = "x509_cert_remove"
    timeout: ClassVar[float] = FAST
