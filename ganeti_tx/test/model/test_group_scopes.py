"""Tests of who is kept to node groups."""

from datetime import UTC, datetime

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.expiry import is_past
from ganeti_tx.model.group_scopes import Kept, group_scopes, kept_by_scope, kept_text
from ganeti_tx.model.scope import Scope
from ganeti_tx.rapi.access.ldap_settings import parse_ldap_settings
from ganeti_tx.rapi.access.roles import parse_roles
from ganeti_tx.rapi.access.tokens import parse_tokens
from ganeti_tx.rapi.access.users import parse_users

FILES = {
    "users": b"# bob pw group=g0\nbob pw group=g3\nformer pw group=g1\nbob pw write, group=g1,tag=t\n  eve group=pw read,group=g2\n"
    b"plain pw write\nbare group=g1\nformer pw\n",
    "tokens": (
        f"ci {'0' * 64} 2026-12-31T23:59:59Z write,group=g1,group=g1\nbare {'1' * 64} never\n"
        f"past {'2' * 64} 2026-01-01T00:00:00Z group=g1\n"
    ).encode(),
    "roles": b"@ops @readonly,group=g1\nnone read\n",
    "ldap": b"url = ldaps://ldap.example.com\nuser_dn = uid={user},o=x\ngroup_base = o=x\ngroup web team = group=g3\n"
    b"group Web  Team = read,group=g2\n",
}
#: When one of the tokens has ended.
NOW = datetime(2026, 1, 1, tzinfo=UTC).timestamp()


class GroupScopesTests(SynchronousTestCase):
    """The files as the Remote API reads them."""

    def test_all(self) -> None:
        """Everybody with such a scope of his own, once, by his last line; no comments, no password, and no token that has ended."""
        groups = {
            "g1": [Kept("user", "bob"), Kept("token", "ci"), Kept("role", "ops")],
            "g2": [Kept("user", "eve"), Kept("directory group", "web team")],
        }
        self.assertEqual(group_scopes(FILES, NOW), groups)
        every = {Scope("group", name): kept for name, kept in groups.items()}
        self.assertEqual(kept_by_scope(FILES, NOW), {**every, Scope("tag", "t"): [Kept("user", "bob")]})
        self.assertIn(Kept("token", "past"), group_scopes(FILES, NOW - 1)["g1"])

    def test_text(self) -> None:
        """How many they are, not who."""
        kept = [Kept("user", "bob"), Kept("token", "ci"), Kept("user", "eve")]
        self.assertRegex(kept_text("g1", kept), r"^2 users, 1 token kept to group=g1 by the Remote API \(on the master")

    def test_as_remote_api(self) -> None:
        """The Remote API reads the same scopes there."""
        users, roles = parse_users(FILES["users"]), parse_roles(FILES["roles"])
        groups = parse_ldap_settings(FILES["ldap"]).groups
        read = (
            [user.rights for user in users.values()],
            [token.rights for token in parse_tokens(FILES["tokens"]).values() if not is_past(token.expires, NOW)],
        )
        told = sorted(
            str(scope) for rights in (*read[0], *read[1], *roles.values(), *groups.values()) for scope in rights.scopes
        )
        self.assertEqual(told, sorted(str(scope) for scope, kept in kept_by_scope(FILES, NOW).items() for _ in kept))

    def test_odd(self) -> None:
        """What cannot be understood holds nobody up."""
        odd = {
            "users": b"\xff\xfe pw read,group=g1\n\nx\n",
            "tokens": b"short group=g1\nx 0 soon group=g1\n",
            "roles": b"r group=,nonsense=1,group=g2\n@\n",
            "ldap": b"group = group=g1\ngroup\n",
            "more": b"r group=g3",
        }
        nobody = "\N{REPLACEMENT CHARACTER}" * 2
        self.assertEqual(group_scopes(odd, NOW), {"g1": [Kept("user", nobody)], "g2": [Kept("role", "r")]})
