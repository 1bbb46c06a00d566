"""check-cert-expired: whether a certificate's time is over, for scripts."""

import argparse
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from cryptography.x509 import load_pem_x509_certificate

from ganeti_tx import __version__
from ganeti_tx.runtime.regular_file import read_regular

PROGRAM = "check-cert-expired"
EXPIRED, USABLE = 0, 1
MAX_CERTIFICATE = 1024 * 1024


def has_expired(path: Path, now: float) -> bool:
    """@raise OSError, ValueError: there is no certificate that can be read."""
    end = load_pem_x509_certificate(read_regular(path, MAX_CERTIFICATE)).not_valid_after_utc
    return end < datetime.fromtimestamp(now, UTC)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    about = (
        "End with status 0 if a certificate has expired, with 1 if it has not or cannot be read, with 2 without one."
    )
    made = argparse.ArgumentParser(PROGRAM, description=about)
    made.add_argument("--version", action="version", version=f"{PROGRAM} (ganeti ganeti_tx) {__version__}")
    made.add_argument("certificate", metavar="FILE", type=Path, help="the certificate, in PEM form")
    return made


def main() -> int:
    """The exit status, as its description says; why a certificate cannot be read is told."""
    path = parser().parse_args().certificate
    try:
        return EXPIRED if has_expired(path, time.time()) else USABLE
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        print(f"{PROGRAM}: {str(path)!r} is no certificate that can be read: {why}", file=sys.stderr)
        return USABLE
