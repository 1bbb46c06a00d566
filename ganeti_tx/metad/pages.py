"""What stands at each path, for one guest (reference: metadata-service.json, urls)."""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from attrs import frozen

from ganeti_tx.metad import ec2, nocloud
from ganeti_tx.metad.user_data import ssh_keys, user_data
from ganeti_tx.model.guest_facts import GuestFacts

TEXT, JSON, BYTES = "text/plain; charset=utf-8", "application/json", "application/octet-stream"
#: The first that cloud images ask for, and the newest; any other date means the same.
VERSIONS = ("2009-04-04", "latest")
_VERSION = re.compile(r"latest|\d{4}-\d{2}-\d{2}")


@frozen
class Document:
    """What a guest gets."""

    content_type: str
    body: bytes


def document(facts: GuestFacts, path: str) -> Document | None:
    """What there is at a path; None if there is nothing."""
    match path.strip("/").split("/"):
        case [""] | ["ganeti"]:
            return text("\n".join(VERSIONS))
        case ["ganeti", version, *rest] if is_version(version):
            return of_ganeti(facts, rest)
        case [version, *rest] if is_version(version):
            return of_cloud(facts, rest)
    return None


def is_version(word: str) -> bool:
    """Whether it names a version of the tree."""
    return _VERSION.fullmatch(word) is not None


def of_cloud(facts: GuestFacts, path: Sequence[str]) -> Document | None:
    """Below /VERSION/, as in EC2."""
    match path:
        case []:
            return text("meta-data/\nuser-data" if user_data(facts) else "meta-data/")
        case ["user-data"]:
            return octets(user_data(facts))
        case ["meta-data", *rest]:
            found = ec2.read(ec2.tree(facts), rest)
            return None if found is None else text(found)
    return None


def of_ganeti(facts: GuestFacts, path: Sequence[str]) -> Document | None:
    """Below /ganeti/VERSION/."""
    match path:
        case []:
            return text("meta_data.json\nnocloud/\nos/\nread")
        case ["meta_data.json"]:
            return as_json(meta_data(facts))
        case ["nocloud", name] if name in NOCLOUD:
            return NOCLOUD[name](facts)
        case ["nocloud"]:
            return text("\n".join(sorted(NOCLOUD)))
        case ["os"]:
            return text("environment\nparameters.json\nscripts/")
        case ["os", "parameters.json"]:
            return as_json({name: [value, kind.value] for name, (value, kind) in facts.parameters.items()})
        case ["os", "environment"]:
            return text(shell_variables(facts))
        case ["os", "scripts"]:
            return text("\n".join(sorted(facts.scripts)))
        case ["os", "scripts", name] if name in facts.scripts:
            return text(facts.scripts[name])
    return None


#: What cloud-init's source "NoCloud" asks for. It takes the other files only where each of these two is there.
NOCLOUD: Mapping[str, Callable[[GuestFacts], Document | None]] = {
    "meta-data": lambda facts: as_json(nocloud.meta_data(facts)),
    "network-config": lambda facts: as_json(nocloud.network_config(facts)),
    "user-data": lambda facts: Document(BYTES, user_data(facts) or b""),
    "vendor-data": lambda facts: Document(BYTES, b""),
}


def meta_data(facts: GuestFacts) -> dict[str, Any]:
    """What has no place in EC2's tree."""
    return {
        "name": facts.name,
        "uuid": facts.uuid,
        "hypervisor": facts.hypervisor,
        "os": facts.os,
        "tags": facts.tags,
        "nics": msgspec.to_builtins(facts.nics),
        "ssh_keys": ssh_keys(facts),
    }


def shell_variables(facts: GuestFacts) -> str:
    """What an OS script is told in its environment, as a shell reads it: for helpers that know no JSON."""
    parameters = {f"OSP_{shouted(name)}": value for name, (value, _) in facts.parameters.items()}
    return "".join(
        f"export {name}={shlex.quote(value)}\n"
        for name, value in sorted({**parameters, **facts.environment}.items())
        if re.fullmatch(r"[A-Z_][A-Z0-9_a-z]*", name)
    )


def shouted(name: str) -> str:
    """The name of a parameter as OS scripts have it."""
    return name.upper().replace("-", "_")


def text(value: str) -> Document:
    """Lines."""
    return Document(TEXT, value.encode())


def octets(value: bytes | None) -> Document | None:
    """Whatever somebody has put there."""
    return None if value is None else Document(BYTES, value)


def as_json(value: Any) -> Document:
    """An object."""
    return Document(JSON, msgspec.json.encode(value))
