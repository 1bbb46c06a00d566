"""The words of `ganeti-rapi-access`."""

import argparse
import re
from collections.abc import Collection, Sequence
from datetime import UTC, datetime

from ganeti_tx import __version__
from ganeti_tx.model.expiry import NEVER, expiry_text, read_expiry
from ganeti_tx.rapi.access.rights import Rights, read_rights, unknown_words
from ganeti_tx.runtime.tool_parser import ToolParser

SECONDS = {"h": 3600, "d": 24 * 3600, "w": 7 * 24 * 3600}
#: The latest that can be written.
LAST = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp())

ABOUT = """\
Users and API tokens of the Remote API. They are changed on the master, where it counts at once;
'gnt-cluster redist-conf' brings it to the other nodes.
"""


def parser() -> argparse.ArgumentParser:
    """Reads them."""
    top = ToolParser(
        prog="ganeti-rapi-access", description=ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )  # fmt: skip
    top.add_argument("-V", "--version", action="version", version=f"%(prog)s (ganeti ganeti_tx) {__version__}")
    nouns = top.add_subparsers(dest="noun", required=True, metavar="{token,user,scope,ldap}")
    _add_token(nouns.add_parser("token", help="secrets for programs, with an end", allow_abbrev=False))
    _add_user(nouns.add_parser("user", help="people with passwords", allow_abbrev=False))
    scope = nouns.add_parser("scope", help="what people and programs are kept to", allow_abbrev=False)
    scope.add_subparsers(dest="verb", required=True).add_parser(
        "list", help="show by scope which users, tokens, roles and groups of the directory have it", allow_abbrev=False
    )
    ldap = nouns.add_parser("ldap", help="the directory", allow_abbrev=False).add_subparsers(dest="verb", required=True)
    check = ldap.add_parser("check", help="look for faults in its settings, or try a login", allow_abbrev=False)
    check.add_argument("name", metavar="NAME", nargs="?")
    return top


def _add_token(noun: argparse.ArgumentParser) -> None:
    verbs = noun.add_subparsers(dest="verb", required=True)
    add = verbs.add_parser("add", help="make a token; it is written to standard output, once", allow_abbrev=False)
    _add_name(add)
    _add_rights(add)
    add.add_argument(
        "--expires", default="90d", metavar="TIME",
        help="after so many hours, days or weeks (12h, 30d, 4w), at a UTC time (2026-12-31T23:59:59Z), or never; "
        "default: 90d",
    )  # fmt: skip
    verbs.add_parser("list", help="show tokens, but not their secrets", allow_abbrev=False)
    _add_name(verbs.add_parser("revoke", help="let a token be nobody's", allow_abbrev=False))


def _add_user(noun: argparse.ArgumentParser) -> None:
    verbs = noun.add_subparsers(dest="verb", required=True)
    for verb, what in [
        ("add", "make a user; the password is asked for, or read from standard input"),
        ("modify", "give a user other rights"),
    ]:
        changed = verbs.add_parser(verb, help=what, allow_abbrev=False)
        _add_name(changed)
        _add_rights(changed)
    _add_name(verbs.add_parser("password", help="give a user another password", allow_abbrev=False))
    _add_name(verbs.add_parser("remove", help="remove a user", allow_abbrev=False))
    verbs.add_parser("list", help="show users, but not their passwords", allow_abbrev=False)


def _add_name(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("name", metavar="NAME")


def _add_rights(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--role", action="append", default=[], metavar="@ROLE", help="@admin, @readonly, or one of yours")
    verb.add_argument(
        "--allow", action="append", default=[], metavar="WHAT",
        help="read, write, RESOURCE or RESOURCE:METHOD, several with commas",
    )  # fmt: skip
    verb.add_argument(
        "--scope", action="append", default=[], metavar="SCOPE",
        help="keep to instances with a tag (tag=web) or in a node group (group=rack1)",
    )  # fmt: skip


def column_of(words: argparse.Namespace, resources: Collection[str], roles: Collection[str]) -> str:
    """The last column of a line for the rights that were typed. @raise ValueError: one is wrong or unknown"""
    given: Sequence[str] = [*(f"@{role.removeprefix('@')}" for role in words.role), *words.allow, *words.scope]
    rights = read_rights(",".join(given))
    for word in unknown_words(rights, resources, roles):
        where = "roles are @admin, @readonly and those of the file rapi/roles" if word.startswith("@") else (
            f"it is no resource; there are {', '.join(sorted(resources))}"
        )  # fmt: skip
        raise ValueError(f"{word!r} would give nothing: {where}")
    _check_places(words, rights)
    return ",".join(part.strip() for word in given for part in word.split(",") if part.strip())


def _check_places(words: argparse.Namespace, rights: Rights) -> None:
    """A scope that stands elsewhere is perhaps a mistake; so is something else in its place."""
    if read_rights(",".join(words.scope)) != Rights(scopes=rights.scopes):
        raise ValueError("scopes, tag=TAG or group=NAME, stand after --scope, and nothing else does")


def read_end(text: str, now: float) -> str:
    """When a token ends, as its line has it. @raise ValueError: it is no time, or past"""
    match = re.fullmatch(r"([0-9]{1,6})([hdw])", text)
    if match:
        expires: int | None = int(now) + int(match[1]) * SECONDS[match[2]]
    elif text == NEVER:
        expires = None
    else:
        try:
            expires = read_expiry(text)
        except ValueError:
            raise ValueError(f"{text!r} is no end: write 12h, 30d, 4w, 2026-12-31T23:59:59Z or never") from None
    if expires is not None and not now < expires <= LAST:
        raise ValueError(f"{text!r} is not in the future")
    return expiry_text(expires)
