"""gnt-cluster export-config."""

import errno
import json
from collections.abc import Sequence

import msgspec

from ganeti_tx.cli.options import TREE, Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.presented import show
from ganeti_tx.cli.session import Session, rooted
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError
from ganeti_tx.model.blank_secrets import with_blank_secrets
from ganeti_tx.model.config_data import MAX_CONFIG_BYTES, decode, encode
from ganeti_tx.model.node_files import CONFIG


def export(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """This node's copy of the configuration; any master candidate has one, and no daemon need run."""
    config = decode(_read(rooted(session.environ, CONFIG.path)))
    text = msgspec.json.format(encode(with_blank_secrets(config)), indent=1)
    show(session, [text.decode()], lambda: json.loads(text))
    return ExitCode.SUCCESS


def _read(path: str) -> bytes:
    """@raise OpPrereqError: there is none here, or it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(MAX_CONFIG_BYTES + 1)
    except OSError as error:
        if error.errno == errno.ENOENT:
            why = "only the master and the master candidates of a cluster have the configuration"
        else:
            why = error.strerror or ""
        raise OpPrereqError(f"Cannot read {path}: {why}", ECode.ENVIRON) from None


EXPORT = Command(
    export,
    prints=TREE,
    manual="""
The configuration is printed as JSON. Every secret in it is blank: private parameters of operating systems, the secrets of
mirrored disks, and passwords in URLs. What is printed can be shown to others; a cluster cannot run with it.
""",
)
