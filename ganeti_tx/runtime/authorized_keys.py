"""The cluster's lines among root's authorized keys: marked each, so that all other lines stay as they are."""

from collections.abc import Mapping

MODE = 0o600
DIRECTORY_MODE = 0o700
MAX_AUTHORIZED_KEYS = 4 * 1024 * 1024
#: Ends the comment of each line that is the cluster's.
MARK = b"(ganeti_tx)"


def merged(present: bytes, keys: Mapping[str, str]) -> bytes:
    """The file with these keys, by the node that has them, in place of the cluster's former ones."""
    others = [line for line in present.splitlines(keepends=True) if not line.rstrip().endswith(MARK)]
    if others and keys and not others[-1].endswith(b"\n"):
        others[-1] += b"\n"
    return b"".join((*others, *wanted(keys)))


def wanted(keys: Mapping[str, str]) -> list[bytes]:
    """The cluster's lines for these keys, by the node that has them."""
    return [f"{key} root@{node} ".encode() + MARK + b"\n" for node, key in sorted(keys.items())]


def missing(present: bytes, keys: Mapping[str, str]) -> list[str]:
    """The nodes whose keys are not in the file, as the cluster's."""
    lines = set(present.splitlines())
    return [node for node, key in sorted(keys.items()) if wanted({node: key})[0].rstrip() not in lines]


def surplus(present: bytes, keys: Mapping[str, str]) -> list[str]:
    """Whose keys are in the file as the cluster's, and are none of these: the user and node of each."""
    own = {line.rstrip() for line in wanted(keys)}
    lines = [line.rstrip() for line in present.splitlines()]
    strange = [line for line in lines if line.endswith(MARK) and line not in own]
    return sorted({line.removesuffix(MARK).split()[-1].decode("utf-8", "replace") for line in strange if line != MARK})
