"""check-cert-expired: whether a certificate's time is over, for scripts."""

import argparse
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from cryptography.x509 import Certificate, load_pem_x509_certificate

from ganeti_tx import __version__
from ganeti_tx.runtime.regular_file import read_regular
from ganeti_tx.runtime.tool_parser import ToolParser

PROGRAM = "check-cert-expired"
EXPIRED, USABLE = 0, 1
BEGINS = "-----BEGIN CERTIFICATE-----"
MAX_CERTIFICATE = 1024 * 1024


def has_expired(path: Path, now: float) -> bool:
    """@raise OSError: the file cannot be read. @raise ValueError: it holds no certificate."""
    return certificate(read_regular(path, MAX_CERTIFICATE)).not_valid_after_utc < datetime.fromtimestamp(now, UTC)


def certificate(text: bytes) -> Certificate:
    """The first one of a file. @raise ValueError: there is none, or it is damaged."""
    try:
        return load_pem_x509_certificate(text)
    except ValueError:  # its text is about the library
        raise ValueError(what_is_wrong(text)) from None


def what_is_wrong(text: bytes) -> str:
    """With a file of which no certificate can be read."""
    if not text.strip():
        return "it is empty"
    return f"what stands behind {BEGINS!r} is damaged" if BEGINS.encode() in text else f"it has no line {BEGINS!r}"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    about = (
        "End with status 0 if a certificate has expired, with 1 if it has not or cannot be read, with 2 without one."
    )
    made = ToolParser(PROGRAM, description=about)
    made.add_argument("--version", action="version", version=f"{PROGRAM} (ganeti ganeti_tx) {__version__}")
    made.add_argument("certificate", metavar="FILE", type=Path, help="the certificate, in PEM form")
    return made


def main() -> int:
    """The exit status, as its description says; why a certificate cannot be read is told."""
    path = parser().parse_args().certificate
    try:
        return EXPIRED if has_expired(path, time.time()) else USABLE
    except (OSError, ValueError) as error:
        what = "cannot be read" if isinstance(error, OSError) else "holds no certificate in PEM form"
        why = error.strerror if isinstance(error, OSError) else error
        print(f"{PROGRAM}: {str(path)!r} {what}: {why}", file=sys.stderr)
        return USABLE
