"""A certificate with the signature of a cluster domain (reference: remote-export.json, signed_certificate)."""

import datetime
import re

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.remote_moves import DomainSecret, invalid

HEADER = "X-Ganeti-Signature"
BEGIN, END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
SIGNATURE = re.compile(
    rf"^{HEADER}:[ \t]*(?P<salt>[a-zA-Z0-9]+)/(?P<digest>[a-zA-Z0-9]+)[ \t]*$", re.IGNORECASE | re.MULTILINE
)
#: Characters of a text that can hold one.
LONGEST = 64 * 1024
#: Seconds by which the clocks of two clusters may differ, as those of nodes may.
SKEW = datetime.timedelta(seconds=150)
#: Bits that a key of each kind has at least.
RSA_BITS, CURVE_BITS = 2048, 256


def signed(secret: DomainSecret, certificate: str, salt: str) -> str:
    """The text by which another cluster takes a certificate of ours."""
    pem = pem_in(certificate)
    return f"{HEADER}: {salt}/{secret.sign(pem, salt)}\n\n{pem}"


def verified(secret: DomainSecret, text: str, what: str, now: float) -> str:
    """The certificate alone. @param what: the parameter that has it. @raise OpPrereqError: it is not to be trusted."""
    if len(text) > LONGEST:
        raise invalid(what, f"{len(text)} characters; allowed are {LONGEST}")
    pem = pem_in(text)
    if not pem:
        raise invalid(what, "there is no certificate in it")
    found = SIGNATURE.search(text[: text.index(BEGIN)])
    if found is None:
        raise invalid(what, f"signature missing: a line '{HEADER}: SALT/SIGNATURE' is expected before the certificate")
    if not secret.has_signed(pem, found["digest"], found["salt"]):
        raise invalid(what, "signature invalid: it is not of a cluster with the same domain secret")
    check_usable(pem, what, now)
    return pem


def pem_in(text: str) -> str:
    """What is signed of a text: from the line that begins a certificate to the end of the one that ends it."""
    begin = text.find(BEGIN)
    end = text.find(END, begin)
    return "" if begin < 0 or end < 0 else f"{text[begin : end + len(END)]}\n"


def check_usable(pem: str, what: str, now: float) -> None:
    """@raise OpPrereqError: it is none, has expired, is not yet valid, or has a weak key."""
    try:
        certificate = x509.load_pem_x509_certificate(pem.encode())
        begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
        key = certificate.public_key()
    except (ValueError, UnicodeError, x509.InvalidVersion) as error:
        raise invalid(what, f"not a certificate: {str(error)[:200]}") from None
    moment = datetime.datetime.fromtimestamp(now, datetime.UTC)
    if moment > end + SKEW:
        raise OpPrereqError(f"{what}: the certificate expired at {end:%F %T} UTC; prepare the move anew", ECode.INVAL)
    if moment < begin - SKEW:
        raise invalid(what, f"the certificate is not valid before {begin:%F %T} UTC; the clocks of the clusters differ")
    if isinstance(key, RSAPublicKey):
        weak, least = key.key_size < RSA_BITS, RSA_BITS
    elif isinstance(key, EllipticCurvePublicKey):
        weak, least = key.curve.key_size < CURVE_BITS, CURVE_BITS
    else:
        raise invalid(what, "its key is neither RSA nor of an elliptic curve")
    if weak:
        raise invalid(what, f"its key is too weak: at least {least} bits are expected")
