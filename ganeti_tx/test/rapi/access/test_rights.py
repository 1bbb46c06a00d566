"""Roles, permissions and scopes."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.line_file import LineError
from ganeti_tx.model.scope import Scope
from ganeti_tx.rapi.access.rights import read_rights, unknown_words
from ganeti_tx.rapi.access.roles import parse_roles
from ganeti_tx.test.rapi.access.gates import CREATE, INFO, INSTANCES, OPERATIONS, QUERY, STARTUP, STORAGE

EVERYTHING = {"info:GET", "query:PUT", "instances_name_startup:PUT", "instances:POST", "instances:GET"} | {
    "nodes_name_storage:GET"
}


def covered(text: str) -> set[str]:
    """What rights in words cover, of all operations."""
    rights = read_rights(text)
    return {f"{each.resource}:{each.method}" for each in OPERATIONS if rights.cover(each)}


class CoverTests(SynchronousTestCase):
    """Which operations rights name."""

    def test_options(self) -> None:
        """Each option covers what lists it, and write does not imply read nor read write."""
        self.assertEqual(covered("read"), {"query:PUT"})
        self.assertEqual(covered("write"), EVERYTHING - {"info:GET", "instances:GET"})

    def test_roles(self) -> None:
        """@admin may all; @readonly may all that only reads, whatever option it would need."""
        self.assertEqual(covered("@admin"), EVERYTHING)
        self.assertEqual(covered("@readonly"), {"info:GET", "query:PUT", "instances:GET", "nodes_name_storage:GET"})
        self.assertEqual(covered("@unheard-of"), set())

    def test_permissions(self) -> None:
        """A resource covers all its methods, with a method only that one."""
        self.assertEqual(covered("instances"), {"instances:GET", "instances:POST"})
        self.assertEqual(covered("instances:GET,instances_name_startup:GET"), {"instances:GET"})
        self.assertEqual(covered("nonsense"), set())
        self.assertEqual(covered("tag=web"), set())
        self.assertEqual(covered(""), set())

    def test_lists(self) -> None:
        """Roles and permissions make a list; Ganeti's options, and nothing at all, do not."""
        self.assertTrue(all(read_rights(text).is_list for text in ("@ops", "instances", "instances:GET,tag=web")))
        self.assertFalse(any(read_rights(text).is_list for text in ("", "read", "write,@ops", "tag=web")))

    def test_text(self) -> None:
        """They are written as they are read."""
        for text in ("", "read,write,@a,@b,instances,query:GET,group=g,tag=t"):
            self.assertEqual(str(read_rights(text)), text)

    def test_unknown_words(self) -> None:
        """What nobody knows is found."""
        rights = read_rights("instances,instance:GET,@admin,@ops,@opps")
        self.assertEqual(
            list(unknown_words(rights, {each.resource for each in OPERATIONS}, {"ops"})), ["instance", "@opps"]
        )


class RolesFileTests(SynchronousTestCase):
    """The administrator's own roles."""

    def test_added(self) -> None:
        """What a role gives is added, its scopes too; one that is not there is told."""
        roles = parse_roles(b"# roles\nweb  instances_name_startup:PUT,@readonly,tag=web\n@spare read\n")
        self.assertEqual(read_rights("@web,@gone,@admin,@readonly").undefined(roles), {"gone"})
        rights = read_rights("@web,instances:POST").with_roles(roles)
        self.assertEqual(
            [rights.cover(each) for each in (STARTUP, CREATE, INSTANCES, INFO, QUERY, STORAGE)], [True] * 6
        )
        self.assertEqual(rights.scopes, {Scope("tag", "web")})
        self.assertTrue(read_rights("@spare").with_roles(roles).cover(QUERY))

    def test_faults(self) -> None:
        """What cannot be understood is told with its line."""
        for text, message in [
            (b"web\n", "line 1: it gives nothing"),
            (b"\nweb read\nweb write", "line 3: role 'web' is there already"),
            (b"admin read", "role 'admin' is built in"),
            (b"web @other", "role 'web' may use the built-in roles only, not @other"),
            (b"web scope=x", "'scope=x' is no scope"),
            (b"web tag=", "'tag=' is no scope"),
            (b"web read write", "'read write' has a space in it"),
            (b"web instances:PATCH", "'PATCH' is no method, allowed are DELETE, GET, POST, PUT"),
            (b"web @", "'@' stands before the name of a role"),
        ]:
            self.assertIn(message, str(self.assertRaises(LineError, parse_roles, text)))
