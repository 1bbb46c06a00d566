"""Files that say who gets in, as they come and go."""

from pathlib import Path

from twisted.internet.defer import ensureDeferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.rapi.access.ldap_settings import LdapSettings, parse_ldap_settings
from ganeti_tx.rapi.access.watched_file import WatchedFile
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
