"""Calls about the keys by which two clusters know one another while an instance moves (reference: remote-export.json)."""

from collections.abc import Iterable
from typing import ClassVar

from ganeti_tx.model.remote_moves import KeyName
from ganeti_tx.rpc.calls.base import FAST, NodeCall, Question, R


class KeyCall(NodeCall[R], frozen=True, kw_only=True):
    """A call that changes a key. The master gives the name, so that it can be removed whatever becomes of an answer."""

    key: KeyName

    def reserves(self) -> Iterable[str]:
        """The key."""
        return [f"key {self.key}"]


class X509CertCreate(KeyCall[str], frozen=True, kw_only=True):
    """Make a key with a certificate that is good for some seconds; the answer is the certificate. One that is there stays.

    @ivar early: whether it is good some time before it is made, for nodes whose clocks are late.
    """

    name: ClassVar[str] = "x509_cert_create"
    in_lines: ClassVar[bool] = False
    timeout: ClassVar[float] = FAST
    validity: int
    early: bool = False


class X509CertRead(Question[str | None], frozen=True, kw_only=True):
    """What is the certificate of a key? None when there is none."""

    name: ClassVar[str] = "x509_cert_read"
    in_lines: ClassVar[bool] = False
    timeout: ClassVar[float] = FAST
    key: KeyName


class X509CertRemove(KeyCall[None], frozen=True, kw_only=True):
    """Remove a key; one that is not there is no error."""

    name: ClassVar[str] = "x509_cert_remove"
    timeout: ClassVar[float] = FAST
