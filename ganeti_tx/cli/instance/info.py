"""gnt-instance info."""

from collections.abc import Mapping, Sequence
from typing import Any

from ganeti_tx.cli.instance.disk_info import disk_lines
from ganeti_tx.cli.instance.display import display_lines
from ganeti_tx.cli.options import MANY_INSTANCES, PRIORITY, ROMAN, TREE, Command, switch
from ganeti_tx.cli.output import format_time
from ganeti_tx.cli.parsing import Parsed, UsageError
from ganeti_tx.cli.presented import show_trees
from ganeti_tx.cli.roman import roman
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.cli.tree import Labelled, Parameters, Part, Told
from ganeti_tx.cli.yaml_text import yaml_scalar
from ganeti_tx.errors import ExitCode

Instance = Mapping[str, Any]
_NIC_KEYS = ("MAC", "IP", "mode", "link", "vlan", "network", "UUID", "name")


def info(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """All about the instances named, or with --all about every one."""
    if not names and not options.show_all:
        raise UsageError("no instance was given; --all shows all, and reads much from the nodes")
    if names and options.show_all:
        raise UsageError("give either instances or --all, not both")
    op = opcode("OP_INSTANCE_QUERY_DATA", instances=list(names) or None, static=unless(False, options.static))
    found = run_opcode(session, options, op)
    if not found:
        session.warn("No instances")
        return ExitCode.FAILURE
    show_trees(session, [described(found[name], options.roman_integers) for name in found])
    return ExitCode.SUCCESS


def described(instance: Instance, in_roman: bool) -> Labelled:
    """One instance, as OP_INSTANCE_QUERY_DATA answers, with the labels of the info command."""

    def number(value: int | None) -> Told:
        return Told(roman(value) if in_roman else str(value), value)

    return [
        ("Instance name", instance["name"]),
        ("UUID", instance["uuid"]),
        ("Serial number", number(instance["serial_no"])),
        ("Creation time", Told(format_time(instance["ctime"]), instance["ctime"])),
        ("Modification time", Told(format_time(instance["mtime"]), instance["mtime"])),
        ("State", _state(instance)),
        ("Nodes", _nodes(instance)),
        *_guest(instance.get("guest_interfaces")),
        ("Operating system", instance["os"]),
        ("Operating system parameters", filled(instance.get("os_instance"), instance.get("os_actual"))),
        ("Allocated network port", number(instance.get("network_port"))),
        *display_lines(instance),
        ("Hypervisor", instance["hypervisor"]),
        ("Hypervisor parameters", filled(instance.get("hv_instance"), instance.get("hv_actual"))),
        ("Back-end parameters", _backend(instance)),
        ("NICs", [_nic(index, nic) for index, nic in enumerate(instance.get("nics") or ())]),
        ("Disk template", instance["disk_template"]),
        ("Disks", [disk_lines(f"disk/{index}", disk) for index, disk in enumerate(instance.get("disks") or ())]),
    ]


def _state(instance: Instance) -> Told:
    state = f"configured to be {instance['config_state']}"
    if instance.get("run_state"):
        state += f", actual state is {instance['run_state']}"
    return Told(state, {"configured": instance["config_state"], "actual": instance.get("run_state") or None})


def _guest(told: Mapping[str, Any] | None) -> Labelled:
    """What the guest says of itself; nothing when nobody was asked, or it says nothing."""
    if told is None:
        return []
    more = [f"and {told['left_out']} more"] if told["left_out"] else []
    return [("Guest's addresses", Part([*map(_interface, told["interfaces"]), *more], told))]


def _interface(told: Mapping[str, Any]) -> str:
    """One of the guest's, whose words are quoted where they would make the whole no YAML."""
    addresses = ", ".join(told["addresses"]) + (f" (MAC {told['mac']})" if told["mac"] else "")
    breaks = ": " in addresses or addresses.endswith(":")
    return f"{yaml_scalar(told['name'])}: {yaml_scalar(addresses) if breaks else addresses}"


def _nodes(instance: Instance) -> Part:
    groups = zip(instance.get("snodes_group_names") or (), instance.get("snodes_group_uuids") or (), strict=False)
    grouped = [(node, group, uuid) for node, (group, uuid) in zip(instance["snodes"], groups, strict=False)]
    secondaries = [f"{node} (group {group}, group UUID {uuid})" for node, group, uuid in grouped] or instance["snodes"]
    primary = (instance["pnode"], instance.get("pnode_group_name"), instance.get("pnode_group_uuid"))
    return Part(
        [
            [("primary", primary[0]), ("group", f"{primary[1]} (UUID {primary[2]})")],
            [("secondaries", ", ".join(secondaries))],
        ],
        {
            "primary": _place(*primary),
            "secondaries": [_place(*each) for each in grouped]
            or [_place(node, None, None) for node in instance["snodes"]],
        },
    )


def _place(node: str, group: str | None, uuid: str | None) -> dict[str, str | None]:
    return {"name": node, "group": group, "group_uuid": uuid}


def _backend(instance: Instance) -> Parameters:
    """With the old name of the most memory among them, as Ganeti shows it."""
    actual = dict(instance.get("be_actual") or {})
    if "maxmem" in actual:
        actual["memory"] = actual["maxmem"]
    return filled(instance.get("be_instance"), actual)


def filled(own: Mapping[str, Any] | None, actual: Mapping[str, Any] | None) -> Parameters:
    """Parameters in force; those that are not the instance's own stand in parentheses behind the word default."""
    own = own or {}
    return Parameters(
        ((key, own.get(key, Told(f"default ({value})", value))) for key, value in sorted((actual or own).items())),
        own,
    )


def _nic(index: int, nic: Sequence[Any]) -> Part:
    """[name, uuid, ip, mac, mode, link, vlan, network, network information] as the nodes' hooks see it."""
    name, uuid, ip, mac, mode, link, vlan, network, netinfo = [*nic, *[None] * 9][:9]
    values = (mac, ip, mode, link, vlan, netinfo["name"] if netinfo else network, uuid, name)
    pairs = list(zip(_NIC_KEYS, values, strict=True))
    return Part([(f"nic/{index}", ""), *pairs], {"index": index, **{key.lower(): value for key, value in pairs}})


INFO = Command(
    info,
    MANY_INSTANCES,
    (
        switch("-s --static", "static", "only what the configuration says, without asking the nodes"),
        switch("--all", "show_all", "show all instances"),
        ROMAN,
        PRIORITY,
    ),
    prints=TREE,
)
