"""The file rapi/ldap: where the directory is, how people are found in it, and what their groups give them.

Lines "key = value"; every fault is told at once.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from attrs import frozen

from ganeti_tx.model.host_port import host_port
from ganeti_tx.model.ip_address import parsed
from ganeti_tx.model.line_file import LineError, entries
from ganeti_tx.rapi.access.rights import Rights, read_rights

#: Keys of texts, with what they are when they are not there; None where that is nothing.
TEXTS: Mapping[str, str | None] = {
    "url": None,
    "start_tls": "no",
    "insecure_loopback": "no",
    "ca_file": None,
    "user_dn": None,
    "search_base": None,
    "search_filter": "(uid={user})",
    "bind_dn": None,
    "bind_password_file": None,
    "group_base": None,
    "group_filter": "(|(member={dn})(uniqueMember={dn})(memberUid={user}))",
    "group_attribute": "cn",
}
#: Keys of numbers: what they are when they are not there, the least and the most.
NUMBERS = {
    "connect_timeout": (5, 1, 60),
    "timeout": (10, 1, 60),
    "cache_seconds": (60, 0, 3600),
    "size_limit": (500, 1, 10_000),
}
GROUP = "group"
PORTS = {"ldap": 389, "ldaps": 636}
MAX_URLS = 8


@frozen(kw_only=True)
class ServerUrl:
    """One server."""

    scheme: str
    host: str
    port: int

    @property
    def is_tls(self) -> bool:
        """Whether TLS starts with the connection."""
        return self.scheme == "ldaps"

    def __str__(self) -> str:
        return f"{self.scheme}://{host_port(self.host, self.port)}"


@frozen(kw_only=True)
class LdapSettings:
    """What the file says; the names are its keys."""

    urls: tuple[ServerUrl, ...]
    start_tls: bool
    ca_file: str | None
    user_dn: str | None
    search_base: str | None
    search_filter: str
    bind_dn: str | None
    bind_password_file: Path | None
    group_base: str
    group_filter: str
    group_attribute: str
    #: By the name of the group, in lower case.
    groups: Mapping[str, Rights]
    connect_timeout: int
    timeout: int
    #: So long a password that was right stays right after it was changed.
    cache_seconds: int
    size_limit: int

    @property
    def longest(self) -> float:
        """Seconds after which a login has failed, whatever the servers do."""
        return len(self.urls) * (self.connect_timeout + 4 * self.timeout)


def parse_ldap_settings(data: bytes) -> LdapSettings:
    """@raise LineError: every fault, with the line or key that it is in."""
    faults: list[str] = []
    values = _values(data, faults)
    numbers = {name: _number(name, values, faults) for name in NUMBERS}
    texts = {name: values.get(name, default) for name, default in TEXTS.items()}
    start_tls = _flag("start_tls", texts, faults)
    urls = tuple(_urls(texts, start_tls, _flag("insecure_loopback", texts, faults), faults))
    groups = dict(_groups(values, faults))
    faults += _contradictions(texts, groups)
    if faults:
        raise LineError("; ".join(faults))
    return LdapSettings(
        urls=urls, start_tls=start_tls, ca_file=texts["ca_file"], user_dn=texts["user_dn"],
        search_base=texts["search_base"], search_filter=texts["search_filter"] or "", bind_dn=texts["bind_dn"],
        bind_password_file=Path(texts["bind_password_file"]) if texts["bind_password_file"] else None,
        group_base=texts["group_base"] or "", group_filter=texts["group_filter"] or "",
        group_attribute=texts["group_attribute"] or "", groups=groups, **numbers,
    )  # fmt: skip


def _values(data: bytes, faults: list[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for number, line in entries(data):
        key, equals, value = (part.strip() for part in line.partition("="))
        name = " ".join(key.split())
        if not equals or not value:
            faults.append(f"line {number}: write KEY = VALUE")
        elif name not in TEXTS and name not in NUMBERS and not name.startswith(f"{GROUP} "):
            known = ", ".join([*TEXTS, *NUMBERS, "group NAME"])
            faults.append(f"line {number}: there is no key {name!r}; there are {known}")
        elif name in values:
            faults.append(f"line {number}: {name} is there twice")
        else:
            values[name] = value
    return values


def _number(name: str, values: Mapping[str, str], faults: list[str]) -> int:
    default, least, most = NUMBERS[name]
    text = values.get(name, str(default))
    if text.isascii() and text.isdigit() and least <= int(text[:10]) <= most:
        return int(text)
    faults.append(f"{name}: {text!r} is not a whole number from {least} to {most}")
    return default


def _flag(name: str, texts: Mapping[str, str | None], faults: list[str]) -> bool:
    if texts[name] not in ("yes", "no"):
        faults.append(f"{name}: {texts[name]!r} is neither yes nor no")
    return texts[name] == "yes"


def _urls(texts: Mapping[str, str | None], start_tls: bool, loopback: bool, faults: list[str]) -> Iterator[ServerUrl]:
    words = (texts["url"] or "").split()
    if not 1 <= len(words) <= MAX_URLS:
        faults.append(f"url: give 1 to {MAX_URLS} of them, with spaces between, such as ldaps://ldap.example.com")
    for word in words:
        try:
            yield _url(word, start_tls, loopback)
        except ValueError as error:
            faults.append(f"url: {word!r}: {error}")


def _url(word: str, start_tls: bool, loopback: bool) -> ServerUrl:
    parts = urlsplit(word)
    if parts.scheme not in PORTS or not parts.hostname:
        raise ValueError("it is not ldaps://HOST[:PORT] or ldap://HOST[:PORT]")
    if parts.path not in ("", "/") or parts.query or parts.username:
        raise ValueError("there may be nothing in it but the host and the port")
    url = ServerUrl(scheme=parts.scheme, host=parts.hostname, port=parts.port or PORTS[parts.scheme])
    if url.is_tls and start_tls:
        raise ValueError("start_tls is for ldap://, not for ldaps://")
    if not url.is_tls and not start_tls and not (loopback and is_loopback(url.host)):
        raise ValueError(
            "passwords would cross the network in clear: use ldaps://, or start_tls = yes, or insecure_loopback = yes "
            "for a server on this machine"
        )
    return url


def is_loopback(host: str) -> bool:
    """Whether a host can only be this machine."""
    try:
        return parsed(host).is_loopback
    except ValueError:
        return host == "localhost"


def _groups(values: Mapping[str, str], faults: list[str]) -> Iterator[tuple[str, Rights]]:
    for key, value in values.items():
        if key.startswith(f"{GROUP} "):
            try:
                yield key.removeprefix(f"{GROUP} ").lower(), read_rights(value)
            except ValueError as error:
                faults.append(f"{key}: {error}")


def _contradictions(texts: Mapping[str, str | None], groups: Mapping[str, Rights]) -> Iterator[str]:
    """What is wrong with the keys together."""
    if (texts["user_dn"] is None) == (texts["search_base"] is None):
        yield "give either user_dn or search_base"
    if (texts["bind_dn"] is None) != (texts["bind_password_file"] is None):
        yield "bind_dn and bind_password_file go together"
    if texts["user_dn"] is not None and texts["bind_dn"] is not None:
        yield "bind_dn is for search_base; with user_dn people look for their groups themselves"
    if texts["group_base"] is None:
        yield "group_base is missing: rights come from groups"
    if not groups:
        yield "no line says what a group gives, such as: group admins = @admin"
    for name, wanted in [("user_dn", ["{user}"]), ("search_filter", ["{user}"]), ("group_filter", ["{dn}", "{user}"])]:
        text = texts[name]
        if text is not None and not any(word in text for word in wanted):
            yield f"{name}: {' or '.join(wanted)} is missing in {text!r}"
    for name in ("search_filter", "group_filter"):
        yield from _filter_faults(name, texts[name] or "")
    for name in ("ca_file", "bind_password_file"):
        if texts[name] is not None and not (texts[name] or "").startswith("/"):
            yield f"{name}: {texts[name]!r} is not a path from the root"


def _filter_faults(name: str, text: str) -> Iterator[str]:
    count = Counter(text)
    if not (text.startswith("(") and text.endswith(")") and count["("] == count[")"]):
        yield f"{name}: {text!r} is no filter: its parentheses do not match"
