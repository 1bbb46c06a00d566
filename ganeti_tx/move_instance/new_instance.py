"""What the destination is asked to make of an instance, by what the source tells of it."""

from collections.abc import Mapping, Sequence
from typing import Any

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.disk_formats import KEY
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.from_elsewhere import FROM_NETWORK
from ganeti_tx.move_instance.command_words import Wanted

DISK_KEYS = ("size", "mode", "name")
NIC_KEYS = ("mac", "ip", "mode", "link", "vlan", "network", "name")


def new_instance(
    info: Mapping[str, Any],
    wanted: Wanted,
    prepared: Mapping[str, Any],
    *,
    started: bool,
    opportunistic: bool,
    formats: bool = False,
) -> dict[str, Any]:
    """The arguments of `create_instance`.

    @param info: what is taken over of it (`taken_over`). @param formats: whether the destination knows of these.

    @raise OpPrereqError: an interface is changed that it does not have.
    """
    template = wanted.disk_template or info["disk_template"]
    keys = (*DISK_KEYS, KEY) if formats and lies_in_files(template) else DISK_KEYS
    homes = {"pnode": wanted.primary_node, "snode": wanted.secondary_node, "iallocator": wanted.allocator}
    return {
        "mode": "remote-import",
        "name": wanted.new_name or info["name"],
        "disk_template": template,
        "disks": [disk_of(disk, keys) for disk in info["disks"]],
        "nics": nics_of(info["nics"], wanted.nics),
        "os_type": info["os"],
        "osparams": {**info["os_instance"], **wanted.os},
        "hypervisor": info["hypervisor"],
        "hvparams": {**info["hv_instance"], **wanted.hypervisor},
        "beparams": {**info["be_instance"], **without_memory(wanted.backend)},
        "ip_check": False,
        "start": started,
        "compress": wanted.compress,
        "source_handshake": prepared["handshake"],
        "source_x509_ca": prepared["x509_ca"],
        "source_instance_name": info["name"],
        "opportunistic_locking": opportunistic,
        **{key: value for key, value in homes.items() if value is not None},
    }


def lies_in_files(template: str) -> bool:
    """Whether disks of a template can be of a format; of one that is not known here they are as they are."""
    known = {word.value: kind for word, kind in TEMPLATES.items()}
    return template in known and KEY in known[template].fixed


def disk_of(disk: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """One that has no name gets none; of a format is told what is not raw."""
    return {key: disk[key] for key in keys if disk.get(key) is not None}


def nics_of(nics: Sequence[Sequence[Any]], changes: Mapping[int, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """As they are, with what is to be other."""
    beyond = [index for index in changes if index >= len(nics)]
    if beyond:
        raise OpPrereqError(
            f"--net {beyond[0]}: the instance has {len(nics)} network interfaces, counted from 0", ECode.INVAL
        )
    return [{**nic_of(nic), **changes.get(index, {})} for index, nic in enumerate(nics)]


def nic_of(nic: Sequence[Any]) -> dict[str, Any]:
    """One, from the list that tells it; a network goes by its name, for the other cluster has another uuid for it."""
    name, _uuid, ip, mac, mode, link, vlan, network, netinfo = (*nic, *[None] * 9)[:9]
    named = netinfo.get("name") if isinstance(netinfo, Mapping) else None
    found = dict(zip(NIC_KEYS, (mac, ip, mode, link, vlan, named or network, name), strict=True))
    left_out = FROM_NETWORK if found["network"] else ()
    return {key: value for key, value in found.items() if value not in (None, "") and key not in left_out}


def without_memory(backend: Mapping[str, Any]) -> dict[str, Any]:
    """The word for both limits of the memory becomes these, which the instance may have of its own."""
    found = {key: value for key, value in backend.items() if key != "memory"}
    return {**dict.fromkeys(("minmem", "maxmem"), backend["memory"]), **found} if "memory" in backend else found
