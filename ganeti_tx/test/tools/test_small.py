"""fmtjson, check-cert-expired, users-setup, post-upgrade and ganeti-ensure-dirs."""

import io
import json
import os
import sys
import time
from argparse import ArgumentTypeError
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.paths import Paths
from ganeti_tx.tools import check_cert_expired, fmtjson, post_upgrade, users_setup


def certificate(days: float) -> bytes:
    """One that ends after so many days, or has ended before."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "c1")])
    made = x509.CertificateBuilder(name, name, key.public_key(), 17, now - timedelta(9), now + timedelta(days))
    return made.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)


class FormatTests(SynchronousTestCase):
    """fmtjson"""

    def run_main(self, text: bytes) -> tuple[int, str, str]:
        """Its status, and what it says."""
        out, err = io.StringIO(), io.StringIO()
        self.patch(sys, "argv", ["fmtjson"])
        self.patch(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        with redirect_stdout(out), redirect_stderr(err):
            return fmtjson.main(), out.getvalue(), err.getvalue()

    def test_indented(self) -> None:
        """Keys are in order, and it is the same document."""
        document: Any = {"b": [1, None, {"ü": 0.5}], "a": True}
        status, out, err = self.run_main(json.dumps(document).encode())
        self.assertEqual((status, err, json.loads(out)), (0, "", document))
        self.assertEqual(out.splitlines()[:3], ["{", '  "a": true,', '  "b": ['])

    def test_none(self) -> None:
        """What is no JSON is told in one line."""
        for text in (b"", b"{", b"[" * 100_000, b"\xff"):
            status, out, err = self.run_main(text)
            self.assertEqual((status, out, err.count("\n")), (1, "", 1))
            self.assertIn("standard input holds no JSON", err)

    def test_long_integer(self) -> None:
        """It is told as what it is, in one line."""
        for sign in ("", "-"):
            status, out, err = self.run_main(f'{{"a": {sign}{"1" * 4301}}}'.encode())
            self.assertEqual((status, out), (1, ""))
            self.assertEqual(err, "fmtjson: standard input holds an integer of 4301 digits; at most 4300 are taken\n")
        self.assertEqual(self.run_main(b"1" * 4300)[0], 0)


class CertificateTests(SynchronousTestCase):
    """check-cert-expired"""

    def status(self, content: bytes | None) -> int:
        """Of a file."""
        path = Path(self.mktemp())
        if content is not None:
            path.write_bytes(content)
        self.patch(sys, "argv", ["check-cert-expired", str(path)])
        self.err = io.StringIO()
        with redirect_stderr(self.err):
            return check_cert_expired.main()

    def test_statuses(self) -> None:
        """0 is for one that has expired alone."""
        cases = [certificate(-1), certificate(1), b"no certificate", None]
        self.assertEqual([self.status(each) for each in cases], [0, 1, 1, 1])

    def test_told(self) -> None:
        """Which file it is, and what is wrong with it."""
        begin = "'-----BEGIN CERTIFICATE-----'"
        damaged = certificate(1).replace(b"M", b"?")
        for content, told in (
            (None, "cannot be read: No such file or directory"),
            (b" \n", "holds no certificate in PEM form: it is empty"),
            (b"key", f"holds no certificate in PEM form: it has no line {begin}"),
            (damaged, f"holds no certificate in PEM form: what stands behind {begin} is damaged"),
        ):
            self.status(content)
            self.assertEqual(self.err.getvalue(), f"check-cert-expired: {sys.argv[1]!r} {told}\n")

    def test_pipe(self) -> None:
        """Nobody waits at one."""
        path, err = Path(self.mktemp()), io.StringIO()
        os.mkfifo(path)
        self.patch(sys, "argv", ["check-cert-expired", str(path)])
        with redirect_stderr(err):
            self.assertEqual(check_cert_expired.main(), 1)
        self.assertEqual(
            err.getvalue(),
            f"check-cert-expired: {str(path)!r} cannot be read: not a regular file\n",
        )

    def test_clock(self) -> None:
        """The end counts."""
        path = Path(self.mktemp())
        path.write_bytes(certificate(1))
        self.assertFalse(check_cert_expired.has_expired(path, time.time()))
        self.assertTrue(check_cert_expired.has_expired(path, time.time() + 2 * 86400))


class UserTests(SynchronousTestCase):
    """users-setup"""

    def made(self, *commands: list[str], dry_run: bool = False) -> tuple[bool, str]:
        """Whether it went well, and what was told."""
        out = io.StringIO()
        with redirect_stdout(out), redirect_stderr(io.StringIO()):
            return users_setup.make(commands, dry_run=dry_run), out.getvalue()

    def test_runs(self) -> None:
        """Each command is told and run, until one fails."""
        path = Path(self.mktemp())
        self.assertEqual(self.made(["touch", str(path)], ["true"]), (True, f"touch {path}\ntrue\n"))
        self.assertTrue(path.exists())
        self.assertEqual(self.made(["false"], ["true"]), (False, "false\n"))

    def test_dry_run(self) -> None:
        """Only told."""
        path = Path(self.mktemp())
        self.assertEqual(self.made(["touch", str(path)], dry_run=True), (True, f"touch {path}\n"))
        self.assertFalse(path.exists())


class PostUpgradeTests(SynchronousTestCase):
    """post-upgrade"""

    def test_work(self) -> None:
        """The directories are there, and the command of the same installation is run, whose status counts."""
        root = Path(self.mktemp()).absolute()
        root.mkdir()
        self.assertEqual(post_upgrade.work(Paths(root), ["sh", "-c", "exit 3"]), 3)
        self.assertTrue(Paths(root).run_dir.is_dir())
        self.assertEqual(list(post_upgrade.redistribute(Path("/opt/x/bin"))), ["/opt/x/bin/gnt-cluster", "redist-conf"])

    def test_version(self) -> None:
        """What is none is refused."""
        self.assertEqual(post_upgrade.version("2.16.2-1~bpo"[:6]), "2.16.2")
        for text in ("", "x", "2", "2.16;reboot", "--help"):
            with self.assertRaises(ArgumentTypeError):
                post_upgrade.version(text)
