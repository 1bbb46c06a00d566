"""What a cloud image's own set-up is told besides facts: keys that may log in, and the user's own instructions."""

import base64
import binascii
import re

from ganeti_tx.model.guest_facts import SSH_KEYS, USER_DATA, GuestFacts

#: What stands before a value that is encoded, as command lines can carry no text of several lines.
ENCODED = "base64:"
_KEY = re.compile(r"(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-[A-Za-z0-9@.-]+ [A-Za-z0-9+/=]+(?: [^\n]*)?")


def user_data(facts: GuestFacts) -> bytes | None:
    """The user's instructions as they are handed out; None if there are none."""
    return plain(facts.value(USER_DATA)) or None


def ssh_keys(facts: GuestFacts) -> list[str]:
    """The public keys that may log in, without what is none; one stands on each line."""
    lines = plain(facts.value(SSH_KEYS)).decode("utf-8", "replace").splitlines()
    return [line.strip() for line in lines if _KEY.fullmatch(line.strip())]


def plain(value: str) -> bytes:
    """A value, decoded if it says that it is encoded; one that only claims so is taken as it is."""
    if value.startswith(ENCODED):
        try:
            return base64.b64decode(value.removeprefix(ENCODED), validate=True)
        except binascii.Error:
            return value.encode()
    return value.encode()
