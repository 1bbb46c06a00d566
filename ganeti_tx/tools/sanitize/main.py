"""sanitize-config: its command line."""

import argparse
import hmac
import json
import os
import secrets
import sys
from pathlib import Path

from ganeti_tx import __version__
from ganeti_tx.errors import ExitCode
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.files_replace import replace_file
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.regular_file import read_regular
from ganeti_tx.runtime.tool_parser import ToolParser
from ganeti_tx.tools.sanitize.addresses import OtherAddresses
from ganeti_tx.tools.sanitize.replacing import Document, Replacing, Wishes

PROGRAM = "sanitize-config"
DESCRIPTION = """\
Write, beside a configuration, a copy whose name ends in .san and that may be shown to others: with other names, IP addresses,
logical volumes and operating systems, without secrets of mirrors and private parameters, and with empty values of what may hold
passwords: parameters of systems and of external storage, kvm_extra, kernel_args and the like. Addresses of one network stay in one
network, and keep their last 8 bits, or 64 in IPv6. Tags and other parameters of hypervisors stay, but for the names and addresses
in them: read the copy before you give it away.
"""
SUFFIX = ".san"
MODE = 0o600
MAX_CONFIG = 1024 * 1024 * 1024
#: Bytes of what stands for a name.
RANDOM_BYTES = 5
KEY_BYTES = 32


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = ToolParser(PROGRAM, description=DESCRIPTION)
    made.add_argument("--version", action="version", version=f"{PROGRAM} (ganeti ganeti_tx) {__version__}")
    made.add_argument("-v", "--verbose", action="store_true", help="tell where the copy is")
    made.add_argument("--path", metavar="FILE", type=Path, help="the configuration, instead of the node's own")
    for what, about in (
        ("names", "the cluster's, the nodes' and the instances' names"),
        ("ips", "IP addresses"),
        ("lvs", "the names of logical volumes"),
        ("os-names", "the names of operating systems"),
    ):
        made.add_argument(
            f"--sanitize-{what}", type=yes_no, default=True, metavar="yes|no", help=f"{about} (default: yes)"
        )
    made.add_argument("--no-randomization", action="store_true", help="always the same copy: node1, node2, ...")
    made.add_argument(
        "--base-domain", default="example.com", metavar="DOMAIN", help="of the names (default: %(default)s)"
    )
    return made


def yes_no(text: str) -> bool:
    """@raise ArgumentTypeError: neither."""
    if text.lower() not in ("yes", "no", "true", "false"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither yes nor no")
    return text.lower() in ("yes", "true")


def key_of(document: Document) -> bytes:
    """The same for the same configuration; whoever has the copy alone lacks the secrets and names that go into it."""
    return hmac.digest(PROGRAM.encode(), json.dumps(document, sort_keys=True).encode(), "sha256")


def replacing(options: argparse.Namespace, document: Document) -> Replacing:
    """What the options ask for."""
    wishes = Wishes(
        options.sanitize_names,
        options.sanitize_ips,
        options.sanitize_lvs,
        options.sanitize_os_names,
        options.base_domain,
    )
    if options.no_randomization:
        return Replacing(wishes, lambda kind, number: f"{kind}{number}", OtherAddresses(key_of(document)))
    return Replacing(
        wishes,
        lambda kind, number: f"{kind}-{secrets.token_hex(RANDOM_BYTES)}",
        OtherAddresses(secrets.token_bytes(KEY_BYTES)),
    )


def read(path: Path) -> Document:
    """A configuration of any layout. @raise OSError, ValueError: there is none."""
    content = read_regular(path, MAX_CONFIG)
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} holds no JSON: {error}") from None
    if not (isinstance(document, dict) and isinstance(document.get("cluster"), dict)):
        raise ValueError(f"{path} is no configuration of a cluster")
    return document


def sanitized(options: argparse.Namespace, path: Path) -> Document:
    """The copy. @raise OSError, ValueError: what is there is no configuration."""
    document = read(path)
    try:
        return replacing(options, document).of(document)
    except (
        AttributeError,
        IndexError,
        KeyError,
        RecursionError,
        TypeError,
    ):  # a table that is a list, a disk without its place, ...
        raise ValueError(f"{path} is no configuration of a layout that is known") from None


def main() -> int:
    """The program; its exit status."""
    options = parser().parse_args()
    try:
        path = options.path or Paths.from_environment(os.environ).config_file
        copy = sanitized(options, path)
        target = path.with_name(path.name + SUFFIX)
        replace_file(target, json.dumps(copy, indent=2).encode() + b"\n", MODE)
    except OSError as error:
        print(f"{PROGRAM}: {reason(error)}", file=sys.stderr)
        return ExitCode.FAILURE
    except ValueError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return ExitCode.FAILURE
    if options.verbose:
        print(f"wrote {target}")
    return ExitCode.SUCCESS
