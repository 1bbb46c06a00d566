"""What an instance is told of itself: from what the node was told of it, and from the OS definition that is here."""

from collections.abc import Mapping, Sequence
from string import ascii_lowercase

from msgspec.structs import replace

from ganeti_tx.errors import GanetiError
from ganeti_tx.model.guest_facts import GuestFacts, GuestNic, classified
from ganeti_tx.model.instance_spec import InstanceSpec, NicSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.os.catalogue import OsCatalogue
from ganeti_tx.node.os.definition import OsDefinition
from ganeti_tx.node.os.environment import os_environment

#: The names that a guest gives to its disks, by how they are attached.
_DEVICES = {"paravirtual": "/dev/vd", "xen-pv": "/dev/xvd"}
_OTHER_DEVICES = "/dev/sd"
#: Bytes of a script; of all that is told there must be no end of scripts either.
MAX_SCRIPT = 1 << 20
_SCRIPTS = ("create", "create_untrusted", "import", "export", "rename")


def guest_facts(
    spec: InstanceSpec, nic: NicSpec, interface: str, catalogue: OsCatalogue, variables: Mapping[str, str]
) -> GuestFacts:
    """All of it. @param nic, interface: its communication NIC. @param variables: that scripts are told besides."""
    os = definition(spec, catalogue)
    return GuestFacts(
        name=spec.name,
        uuid=spec.uuid,
        address=str(nic.ip),
        interface=interface,
        os=spec.os,
        hypervisor=spec.hypervisor,
        tags=list(spec.tags),
        nics=[guest_nic(each) for each in spec.nics],
        parameters=classified(spec.osparams, spec.osparams_private, spec.osparams_secret),
        scripts={} if os is None else scripts(os, catalogue),
        environment={} if os is None else {**environment(os, spec), **variables},
    )


def guest_nic(nic: NicSpec) -> GuestNic:
    """One interface as the guest sees it."""
    network = nic.netinfo or {}
    return GuestNic(
        mac=nic.mac,
        ip=nic.ip,
        subnet=network.get("network"),
        gateway=network.get("gateway"),
        subnet6=network.get("network6"),
        gateway6=network.get("gateway6"),
        network=network.get("name"),
        to_node=nic.communication,
    )


def definition(spec: InstanceSpec, catalogue: OsCatalogue) -> OsDefinition | None:
    """Its OS definition, if the node has a usable one; an instance may run without."""
    try:
        return catalogue.find(spec.os) if spec.os else None
    except GanetiError:
        return None


def scripts(os: OsDefinition, catalogue: OsCatalogue) -> dict[str, str]:
    """The texts of its scripts. What is run in the place of `create` is found under that name, too."""
    found: dict[str, str] = {}
    for name in _SCRIPTS:
        try:
            found[name] = catalogue.files.read(os.path / name, MAX_SCRIPT).decode("utf-8")
        except (OSError, UnicodeDecodeError):  # not every OS has every script, and a program is no text
            continue
    return {"create": found["create_untrusted"], **found} if "create_untrusted" in found else found


def environment(os: OsDefinition, spec: InstanceSpec) -> dict[str, str]:
    """As on the node, but with the guest's names of its disks, and without OS parameters, which are told by themselves."""
    bare = replace(spec, osparams={}, osparams_private={}, osparams_secret={})
    own = [(place, disk) for place, disk in enumerate(spec.disks) if disk.index >= 0]
    disks = [AttachedDisk(spec=disk, path=device(spec, place)) for place, disk in own]
    return os_environment(os, replace(bare, disks=[disk for _, disk in own]), disks)


def device(spec: InstanceSpec, place: int) -> str:
    """What a guest calls the disk of that place among all that it has."""
    prefix = _DEVICES.get(str(spec.hvparams.get("disk_type", "paravirtual")), _OTHER_DEVICES)
    return prefix + letters(place, ascii_lowercase)


def letters(place: int, alphabet: Sequence[str]) -> str:
    """a to z, then aa and so on, as Linux does."""
    rest, last = divmod(place, len(alphabet))
    return (letters(rest - 1, alphabet) if rest else "") + alphabet[last]
