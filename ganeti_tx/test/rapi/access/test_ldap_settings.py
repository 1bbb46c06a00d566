"""The settings of a directory, and names put into its language."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.line_file import LineError
from ganeti_tx.rapi.access.ldap_escape import in_dn, in_filter, is_usable
from ganeti_tx.rapi.access.ldap_settings import ServerUrl, parse_ldap_settings
from ganeti_tx.rapi.access.rights import read_rights

GOOD = """
# the directory
url = ldaps://ldap1.example.com ldap://[::1]:3890
insecure_loopback = yes
user_dn = uid={user},ou=people,dc=example,dc=com
group_base = ou=groups,dc=example,dc=com
group Cluster Admins = @admin
group web = write,tag=web
timeout = 3
"""


class SettingsTests(SynchronousTestCase):
    """Lines of the file."""

    def faults(self, *replaced: tuple[str, str]) -> str:
        """What is wrong with a changed file."""
        text = GOOD
        for old, new in replaced:
            self.assertIn(old, text)
            text = text.replace(old, new)
        return str(self.assertRaises(LineError, parse_ldap_settings, text.encode()))

    def test_good(self) -> None:
        """Keys are read, others are what they are by default; groups are compared without regard to case."""
        settings = parse_ldap_settings(GOOD.encode())
        self.assertEqual(
            settings.urls,
            (
                ServerUrl(scheme="ldaps", host="ldap1.example.com", port=636),
                ServerUrl(scheme="ldap", host="::1", port=3890),
            ),
        )
        self.assertEqual(
            settings.groups, {"cluster admins": read_rights("@admin"), "web": read_rights("write,tag=web")}
        )
        self.assertEqual((settings.timeout, settings.connect_timeout, settings.cache_seconds), (3, 5, 60))

    def test_all_at_once(self) -> None:
        """Every fault is told, not the first alone."""
        text = self.faults(("timeout = 3", "timeout = 0\nurls = x\ntimeout = 2"), ("group_base", "cache_seconds"))
        for part in ["line 10: there is no key 'urls'; there are url, start_tls", "line 11: timeout is there twice"]:
            self.assertIn(part, text)
        for part in ["timeout: '0' is not a whole number from 1 to 60", "cache_seconds: 'ou=groups", "group_base is"]:
            self.assertIn(part, text)

    def test_no_clear_passwords(self) -> None:
        """Without TLS only this machine will do, and only if it is said."""
        clear = "passwords would cross the network in clear"
        self.assertIn(clear, self.faults(("ldaps://ldap1", "ldap://ldap1")))
        self.assertIn(clear, self.faults(("insecure_loopback = yes", "insecure_loopback = no")))
        self.assertIn(clear, self.faults(("[::1]", "localhost.example.com")))
        started = GOOD.replace("ldaps://ldap1", "ldap://ldap1").replace("insecure_loopback", "start_tls")
        self.assertTrue(parse_ldap_settings(started.encode()).start_tls)
        self.assertIn("start_tls is for ldap://", self.faults(("insecure_loopback", "start_tls")))

    def test_single_faults(self) -> None:
        """Each is told with its key and value."""
        for change, message in [
            (("url = ldaps://ldap1.example.com ldap://[::1]:3890", ""), "url: give 1 to 8"),
            (("ldaps://ldap1.example.com", "http://x"), "'http://x': it is not ldaps://"),
            (("ldap1.example.com", "ldap1/dc=x"), "nothing in it but the host"),
            (("ldap1.example.com", "ldap1:port"), "url: 'ldaps://ldap1:port'"),
            (("insecure_loopback = yes", "insecure_loopback = maybe"), "'maybe' is neither yes nor no"),
            (("user_dn = ", "search_base = dc=com\nuser_dn = "), "give either user_dn or search_base"),
            (("uid={user}", "uid=user"), "user_dn: {user} is missing"),
            (("timeout = 3", "bind_dn = cn=x"), "bind_dn and bind_password_file go together"),
            (("timeout = 3", "bind_dn = cn=x\nbind_password_file = pw"), "'pw' is not a path from the root"),
            (("timeout = 3", "group_filter = (member=x)"), "group_filter: {dn} or {user} is missing"),
            (("timeout = 3", "group_filter = (member={dn}"), "parentheses do not match"),
            (("write,tag=web", "write,tags=web"), "group web: 'tags=web' is no scope"),
            (("timeout = 3", "timeout"), "line 9: write KEY = VALUE"),
            (("group Cluster Admins = @admin\ngroup web = write,tag=web", ""), "no line says what a group gives"),
        ]:
            self.assertIn(message, self.faults(change))


class EscapeTests(SynchronousTestCase):
    """Names are nothing but names."""

    def test_filter(self) -> None:
        """Nothing ends a filter early or matches everything."""
        self.assertEqual(in_filter("jack7"), "jack7")
        self.assertEqual(in_filter("*)(uid=*"), "\\2a\\29\\28uid\\3d\\2a")
        self.assertEqual(in_filter("a\\b\0é"), "a\\5cb\\00\\c3\\a9")

    def test_dn(self) -> None:
        """Nothing adds a part to a distinguished name."""
        self.assertEqual(in_dn("x,ou=admins"), "x\\2cou\\3dadmins")
        self.assertEqual(in_dn(' #"+<>;'), "\\20\\23\\22\\2b\\3c\\3e\\3b")

    def test_usable(self) -> None:
        """Names that a directory would read as others are nobody's."""
        self.assertTrue(all(is_usable(name) for name in ("jack", "jack.smith", "jörg", "a@b.c", "*")))
        for name in ("", " jack", "jack ", "ja ck", "ja\u00a0ck", "jack\n", "a\0", "x" * 129, "a\u200bb"):
            self.assertFalse(is_usable(name), name)
