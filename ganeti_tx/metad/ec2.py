"""The tree /meta-data/ as cloud images know it from Amazon's EC2."""

from collections.abc import Mapping, Sequence

from ganeti_tx.metad.user_data import ssh_keys
from ganeti_tx.model.guest_facts import GuestFacts, GuestNic

#: A directory has entries; anything else is a file with its content.
Tree = Mapping[str, "Tree | str"]


def tree(facts: GuestFacts) -> Tree:
    """Of one instance."""
    own = [nic for nic in facts.nics if not nic.to_node]
    first = own[0] if own else facts.nics[0] if facts.nics else None
    keys = {f"{number}": {"openssh-key": key} for number, key in enumerate(ssh_keys(facts))}
    found: dict[str, Tree | str] = {
        "ami-id": facts.os or "none",
        "ami-launch-index": "0",
        "hostname": facts.name,
        "instance-id": facts.uuid,
        "instance-type": facts.hypervisor,
        "local-hostname": facts.name,
        "reservation-id": facts.uuid,
        "security-groups": "default",
    }
    if first is not None:
        found |= {"mac": first.mac, "network": {"interfaces": {"macs": macs(facts.nics)}}}
        found |= {"local-ipv4": first.ip} if first.ip else {}
    return found | ({"public-keys": keys} if keys else {})


def macs(nics: Sequence[GuestNic]) -> Tree:
    """What there is of each interface."""
    return {nic.mac: interface(number, nic) for number, nic in enumerate(nics)}


def interface(number: int, nic: GuestNic) -> Tree:
    """One of them."""
    found = {"device-number": str(number), "mac": nic.mac}
    found |= {"local-ipv4s": nic.ip} if nic.ip else {}
    return found | ({"subnet-ipv4-cidr-block": nic.subnet} if nic.subnet else {})


def read(root: Tree, path: Sequence[str]) -> str | None:
    """The file at a path, or the list of what is in a directory; None if there is nothing."""
    here: Tree | str = root
    for part in (part for part in path if part):
        if isinstance(here, str) or part not in here:
            return None
        here = here[part]
    return here if isinstance(here, str) else listing(here, is_keys=bool(path) and path[0] == "public-keys")


def listing(directory: Tree, *, is_keys: bool) -> str:
    """The names, directories with a slash. Keys are listed in a way of their own: "0=NAME"."""
    if is_keys and all(isinstance(each, Mapping) for each in directory.values()):
        return "\n".join(f"{number}=key{number}" for number in directory)
    return "\n".join(name if isinstance(entry, str) else f"{name}/" for name, entry in sorted(directory.items()))
