"""What a migration by xl needs and says.

xl does it in one go: it sends the memory while the domain runs, suspends it for the rest, and hands it over. The new domain has
another name until all is there; from then on, as both xls have agreed, it is the instance, and the old one is destroyed.
"""

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any

import msgspec

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.ip_family import is_address
from ganeti_tx.model.printable import printable
from ganeti_tx.node.hypervisor.interfaces import TlsPair
from ganeti_tx.node.hypervisor.xen.layout import DomainLayout
from ganeti_tx.node.hypervisor.xen.record import DomainRecord
from ganeti_tx.node.hypervisor.xen.toolstack import XL
from ganeti_tx.runtime.files import IFiles

#: What xl says when the other node has let the domain run.
DONE = b"Migration successful."
#: What socat says when somebody may connect.
LISTENING = b"listening on"
#: A Xen that tells of this ability tells of those for memory, too; one before 4.17 may not.
TELLS_ALL = "gnttab-v1"
MAX_LOG = 1 << 20
MAX_SAID = 500
#: What socat notes of its work, and xl of its progress.
_NOTES = re.compile(
    r"\S+ \S+ socat\[\d+\] [NIDW] |xc: (info|detail|progress)|migration (sender|target)|Parsing|Saving|Loading"
)


class SentDomain(msgspec.Struct, frozen=True, kw_only=True):
    """What the new node must know of the running domain; memory in MiB."""

    uuid: str
    memory: Annotated[int, msgspec.Meta(ge=1)]
    vcpus: Annotated[int, msgspec.Meta(ge=1)]
    disks: Sequence[str]


def told_of(record: DomainRecord) -> Mapping[str, Any]:
    """For the new node."""
    told: Mapping[str, Any] = msgspec.to_builtins(
        SentDomain(uuid=record.uuid, memory=record.memory, vcpus=record.vcpus, disks=record.disks)
    )
    return told


def check_sendable(wanted: Collection[str], info: Mapping[str, str]) -> None:
    """@raise HypervisorError: this node's Xen does not know what the domain writes while its memory is sent."""
    able = info.get("virt_caps", "").split()
    if TELLS_ALL in able and not set(wanted) & set(able):
        raise HypervisorError(
            f"this node's Xen ({info.get('xen_version', '?')}) has no {' or '.join(wanted)} paging, so that it does not know what"
            " the domain writes while its memory is sent; fail it over"
        )


def taking_over(instance: InstanceSpec, info: Mapping[str, Any], paths: Sequence[str]) -> InstanceSpec:
    """The instance as it runs elsewhere; `paths` are its disks here. @raise HypervisorError: it cannot run here."""
    try:
        sent = msgspec.convert(info, SentDomain)
    except msgspec.ValidationError as error:
        why = printable(str(error), MAX_SAID)
        raise HypervisorError(f"what the other node tells of the running domain is not understood: {why}") from None
    if sent.uuid != instance.uuid:
        raise HypervisorError(
            f"the running domain is of instance {printable(sent.uuid, MAX_SAID)}, not {instance.uuid}"
        )
    if list(sent.disks) != list(paths):
        theirs = printable(", ".join(sent.disks), MAX_SAID) or "none"
        raise HypervisorError(
            f"it runs with disks {theirs}, but has {', '.join(paths) or 'none'} here, where Xen would"
            " look for the same; restart it, or fail it over"
        )
    beparams = {**instance.beparams, "maxmem": sent.memory, "vcpus": sent.vcpus}
    return msgspec.structs.replace(instance, beparams=beparams)


def checked_address(address: str) -> str:
    """The same. @raise HypervisorError: it is no IP address."""
    if not is_address(address):
        raise HypervisorError(f"not an IP address: {address!r}")
    return address


def needed(pair: TlsPair | None) -> TlsPair:
    """The same. @raise HypervisorError: there is none, so that anybody would be believed."""
    if pair is None:
        raise HypervisorError("both nodes must be given keys for its migration, as a master of this version does")
    return pair


def sending(domain: int, relay: Sequence[str]) -> list[str]:
    """The command that sends a domain through another one; xl has a shell read that, to which each word is quoted."""
    return [XL, "migrate", "-s", "", str(domain), f"exec {shlex.join(relay)}"]


#: The command that takes a domain in.
RECEIVE = (XL, "migrate-receive")


def log_of(files: IFiles, layout: DomainLayout) -> bytes:
    """What the programs have said; nothing when that is very much."""
    layout.check_own(files)
    try:
        return files.read(layout.log, MAX_LOG, links=False)
    except OSError:
        return b""


def complaint(log: bytes) -> str:
    """The first line that is no note of the course of things; the last line when all are."""
    lines = [line.strip() for line in log.decode("utf-8", "replace").splitlines() if line.strip()]
    bad = [line for line in lines if _NOTES.match(line) is None]
    return (bad or lines[-1:] or ["xl says nothing"])[0][:MAX_SAID]
