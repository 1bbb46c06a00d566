"""Names put into distinguished names and filters, so that they are nothing but names there."""

import re

#: Names that are not looked for: LDAP would take some of them for others, or they are in nobody's directory.
_USABLE = re.compile(r"[^\s\x00-\x1f\x7f]{1,128}")


def is_usable(name: str) -> bool:
    """Whether a name may be somebody's."""
    return name.isprintable() and _USABLE.fullmatch(name) is not None


def in_dn(name: str) -> str:
    """As the value of an attribute in a distinguished name (RFC 4514): all but letters and digits as hexadecimal."""
    return _hexadecimal(name)


def in_filter(name: str) -> str:
    """As a value in a filter (RFC 4515)."""
    return _hexadecimal(name)


def _hexadecimal(name: str) -> str:
    return "".join(
        letter if letter.isascii() and letter.isalnum() else "".join(f"\\{byte:02x}" for byte in letter.encode())
        for letter in name
    )
