"""Whom the program asks, and by what it knows them."""

import contextlib
import io
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import GanetiError
from ganeti_tx.move_instance.command_words import parser, read_words
from ganeti_tx.move_instance.main import main
from ganeti_tx.move_instance.servers import server_of
from ganeti_tx.rapi_client import Login, Server


class ServersTests(SynchronousTestCase):
    """Made of what was typed."""

    def server(self, *words: str) -> Server:
        """The source."""
        return server_of(read_words(parser(), [*words, "here", "there", "web1"]).source)

    def file(self, content: bytes) -> str:
        """One that is given."""
        path = Path(self.mktemp())
        path.write_bytes(content)
        return str(path)

    def test_login(self) -> None:
        """The password is the first line of its file, and is shown nowhere."""
        file = self.file(b"hush!\nmore")
        found = self.server("--src-username=eve", f"--src-password-file={file}")
        self.assertEqual(found.credentials, Login("eve", "hush!"))
        self.assertNotIn("hush", repr(found))
        self.assertEqual((self.server().credentials, self.server().port), (None, 5080))

    def test_refused(self) -> None:
        """What cannot be used is told in a line."""
        secret, bytes_alone = self.file(b"hush"), self.file(b"\xff")
        for words, reason in (
            (["--src-username=eve"], "there is no password for user eve of here"),
            ([f"--src-password-file={secret}"], "no user is given for here"),
            (["--src-username=eve", "--src-password-file=/nonexistent"], "/nonexistent: No such file"),
            (["--src-username=eve", f"--src-password-file={bytes_alone}"], "it is no text"),
            (["--src-username=e:e", f"--src-password-file={secret}"], "no colon"),
            (["--src-ca-file=/nonexistent"], "/nonexistent"),
            ([f"--src-ca-file={secret}"], "no certificate in PEM form"),
        ):
            error = self.assertRaises(GanetiError, self.server, *words)
            self.assertIn(reason, str(error))
            self.assertNotIn("hush", str(error))

    def test_nobody_there(self) -> None:
        """A cluster that does not answer is named."""
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            status = main(["-I", "hail", "--src-rapi-port=1", "127.0.0.1", "127.0.0.1", "web1"])
        self.assertEqual(status, 1)
        self.assertRegex(err.getvalue(), "^move-instance: Cannot connect to 127.0.0.1:1: .*\n$")
