"""Files that say who gets in, as they come and go."""

import os
from pathlib import Path

from twisted.internet.defer import ensureDeferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.rapi.access.ldap_settings import LdapSettings, parse_ldap_settings
from ganeti_tx.rapi.access.watched_file import WatchedFile
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.files import MemoryFiles

PATH = Path("/ldap")
SETTINGS = (
    b"url = ldaps://ldap1.example.com\nuser_dn = uid={user},dc=example\ngroup_base = dc=example\ngroup web = read\n"
)


class WatchedFileTests(SynchronousTestCase):
    """The settings of a directory."""

    def test_emptied(self) -> None:
        """An emptied file is as none at all: so it can be taken away from every node, each of which gets the master's."""
        files = MemoryFiles()
        settings: WatchedFile[LdapSettings | None] = WatchedFile(files, PATH, parse_ldap_settings, None)
        for data, there in ((SETTINGS, True), (b"no settings", True), (b"\n", False), (SETTINGS, True), (b"", False)):
            ensureDeferred(files.write_atomic(PATH, data))
            settings.read()
            self.assertEqual(settings.content is not None, there, data)

    def test_look(self) -> None:
        """A look reads what was put in the place of the file; what is written in place may be half there, and is not read."""
        path = Path(self.mktemp())
        read: list[bytes] = []
        file: WatchedFile[bytes] = WatchedFile(RealFiles(InlineThreads()), path, bytes, b"", read.append)
        file.look()
        self.assertEqual(read, [])
        path.write_bytes(b"jack")
        file.look()
        with path.open("ab") as half:
            half.write(b" half")
            half.flush()
            file.look()
        beside = path.with_suffix(".new")
        beside.write_bytes(b"ann")
        os.rename(beside, path)
        file.look()
        path.unlink()
        file.look()
        file.look()
        self.assertEqual(read, [b"jack", b"ann", b""])
