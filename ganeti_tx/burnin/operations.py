"""What is done with one instance in each step: opcodes in wire form, in the order in which one job does them."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from ganeti_tx.burnin.instances import Burned
from ganeti_tx.burnin.ring import Ring
from ganeti_tx.burnin.wanted import Wanted
from ganeti_tx.cli.submit import OpCode, opcode, unless
from ganeti_tx.model.disk_template import Mirrored
from ganeti_tx.model.opcodes.types import ReplaceDisksMode

ADD, REMOVE = "add", "remove"
EXPORT, REMOVE_EXPORT = "OP_BACKUP_EXPORT", "OP_BACKUP_REMOVE"
#: Of a device that is not there yet, or the last one.
LAST = -1
#: Seconds for a guest that is thrown away to power off.
SHORT = 5


@frozen
class Part:
    """One opcode, and what it does in a few words."""

    what: str
    op: OpCode


@frozen(kw_only=True)
class Situation:
    """What all steps know. @ivar tag: every new instance has it."""

    wanted: Wanted
    ring: Ring
    tag: str

    def target(self, instance: Burned) -> Mapping[str, Any]:
        """Where an instance goes whose storage does not say so."""
        if self.wanted.kind.mirrored is Mirrored.INTERNALLY:
            return {}
        if self.wanted.allocator:
            return {"iallocator": self.wanted.allocator}
        return {"target_node": self.ring.after(instance.primary)}


def new(situation: Situation, name: str, mode: str, nodes: Sequence[str], **more: Any) -> OpCode:
    """The opcode that makes an instance, on these nodes unless an allocator chooses."""
    wanted = situation.wanted
    if wanted.allocator:
        place: dict[str, Any] = {"iallocator": wanted.allocator}
    else:
        place = dict(zip(("pnode", "snode"), nodes, strict=False))
    return opcode(
        "OP_INSTANCE_CREATE",
        instance_name=name,
        mode=mode,
        disk_template=wanted.template.value,
        nics=[dict(nic) for nic in wanted.nics],
        os_type=wanted.os,
        osparams=dict(wanted.osparams) or None,
        hypervisor=wanted.hypervisor,
        hvparams=dict(wanted.hvparams) or None,
        beparams={"minmem": wanted.minmem, "maxmem": wanted.maxmem, "vcpus": wanted.vcpus},
        name_check=wanted.name_check,
        ip_check=wanted.ip_check,
        ignore_ipolicy=True,
        wait_for_sync=True,
        start=True,
        tags=[situation.tag],
        **place,
        **more,
    )


def created(situation: Situation, number: int) -> list[Part]:
    """A new instance."""
    wanted = situation.wanted
    nodes = situation.ring.first(number, 1 + wanted.kind.secondaries)
    disks = [{"size": size} for size in wanted.disk_sizes] if wanted.kind.has_disks else []
    where = f"by allocator {wanted.allocator}" if wanted.allocator else f"on {', '.join(nodes)}"
    return [Part(where, new(situation, wanted.names[number], "create", nodes, disks=disks))]


def _of(instance: Burned, what: str, op_id: str, **params: Any) -> Part:
    return Part(what, opcode(op_id, instance_name=instance.name, **params))


def stop(instance: Burned) -> Part:
    """It stops."""
    return _of(instance, "stop", "OP_INSTANCE_SHUTDOWN")


def start(instance: Burned) -> Part:
    """It starts."""
    return _of(instance, "start", "OP_INSTANCE_STARTUP")


def replaced_disks(situation: Situation, instance: Burned) -> list[Part]:
    """New disks on the secondary node, then on the primary one."""
    return [
        _of(
            instance,
            f"replace the disks on {node}",
            "OP_INSTANCE_REPLACE_DISKS",
            mode=mode.value,
            disks=list(range(instance.disks)),
            early_release=situation.wanted.early_release,
            ignore_ipolicy=True,
        )
        for mode, node in (
            (ReplaceDisksMode.ON_SECONDARY, ", ".join(instance.secondaries)),
            (ReplaceDisksMode.ON_PRIMARY, instance.primary),
        )
    ]


def replaced_secondary(situation: Situation, instance: Burned) -> list[Part]:
    """Another secondary node."""
    allocator = situation.wanted.allocator
    node = None if allocator else situation.ring.after(instance.nodes[-1], instance.nodes)
    return [
        _of(
            instance,
            f"replace secondary {', '.join(instance.secondaries)} by {node or f'what {allocator} says'}",
            "OP_INSTANCE_REPLACE_DISKS",
            mode=ReplaceDisksMode.NEW_SECONDARY.value,
            disks=[],
            remote_node=node,
            iallocator=allocator,
            early_release=situation.wanted.early_release,
            ignore_ipolicy=True,
        )
    ]


def grown(situation: Situation, instance: Burned) -> list[Part]:
    """Each disk grows by what is wanted."""
    return [
        _of(
            instance,
            f"grow disk/{index} by {amount} MiB",
            "OP_INSTANCE_GROW_DISK",
            disk=index,
            amount=amount,
            ignore_ipolicy=True,
        )
        for index, amount in enumerate(situation.wanted.disk_growth)
        if amount
    ]


def failed_over(situation: Situation, instance: Burned) -> list[Part]:
    """It is stopped and started where else its disks are."""
    target = situation.target(instance)
    return [_of(instance, f"fail over from {instance.primary}", "OP_INSTANCE_FAILOVER", ignore_ipolicy=True, **target)]


def migrated(situation: Situation, instance: Burned) -> list[Part]:
    """It runs on elsewhere; a clean-up afterwards finds nothing to do."""
    target = situation.target(instance)
    return [
        _of(instance, f"migrate from {instance.primary}", "OP_INSTANCE_MIGRATE", ignore_ipolicy=True, **target),
        _of(instance, "clean up the migration", "OP_INSTANCE_MIGRATE", cleanup=True),
    ]


def moved(situation: Situation, instance: Burned) -> list[Part]:
    """Its disks are copied to another node."""
    node = situation.ring.after(instance.primary)
    return [
        _of(
            instance,
            f"move from {instance.primary} to {node}",
            "OP_INSTANCE_MOVE",
            target_node=node,
            ignore_ipolicy=True,
        )
    ]


def exported_and_imported(situation: Situation, instance: Burned) -> list[Part]:
    """It is exported to a node, removed, and made of the export again, elsewhere; the export is left."""
    exporting = situation.ring.after(instance.nodes[-1], instance.nodes[:-1] if len(situation.ring.nodes) > 2 else ())
    again = situation.ring.from_(situation.ring.after(instance.primary), len(instance.nodes))
    snapshots = situation.wanted.kind.snapshots
    back = new(situation, instance.name, "import", again, disks=[], src_node=exporting)
    return [
        _of(
            instance,
            f"export to {exporting}",
            EXPORT,
            target_node=exporting,
            long_sleep=None if snapshots else True,
        ),
        removal(instance.name),
        Part(f"import from {exporting}", back),
    ]


def reinstalled(situation: Situation, instance: Burned) -> list[Part]:
    """Once with the OS that it has, and once with the one that is named."""
    return [
        stop(instance),
        _of(instance, "reinstall", "OP_INSTANCE_REINSTALL"),
        _of(instance, f"reinstall with {situation.wanted.os}", "OP_INSTANCE_REINSTALL", os_type=situation.wanted.os),
        start(instance),
    ]


def rebooted(situation: Situation, instance: Burned) -> list[Part]:
    """In every way that is wanted."""
    return [
        _of(instance, f"reboot ({kind.value})", "OP_INSTANCE_REBOOT", reboot_type=kind.value)
        for kind in situation.wanted.reboot_types
    ]


def renamed(situation: Situation, instance: Burned) -> list[Part]:
    """It gets the spare name, and runs with it, and gets its own again."""
    other = str(situation.wanted.rename)
    return [
        stop(instance),
        _rename(situation, instance.name, other),
        _by_name(other, "start", "OP_INSTANCE_STARTUP"),
        _by_name(other, "stop", "OP_INSTANCE_SHUTDOWN"),
        _rename(situation, other, instance.name),
        start(instance),
    ]


def renamed_same(situation: Situation, instance: Burned) -> list[Part]:
    """It gets the name that it has."""
    return [stop(instance), _rename(situation, instance.name, instance.name), start(instance)]


def _by_name(name: str, what: str, op_id: str) -> Part:
    return Part(f"{what} {name}", opcode(op_id, instance_name=name))


def _rename(situation: Situation, old: str, new_name: str) -> Part:
    """Its address is not looked for: it has just run with it, and its neighbours may remember."""
    op = opcode(
        "OP_INSTANCE_RENAME",
        instance_name=old,
        new_name=new_name,
        name_check=situation.wanted.name_check,
        ip_check=False,
    )
    return Part(f"rename to {new_name}", op)


def disks_changed(situation: Situation, instance: Burned) -> list[Part]:
    """One more disk, and away with it while the instance is down."""
    size = situation.wanted.disk_sizes[0]
    return [
        _of(
            instance,
            f"add a disk of {size} MiB",
            "OP_INSTANCE_SET_PARAMS",
            disks=[[ADD, LAST, {"size": size}]],
            ignore_ipolicy=True,
        ),
        stop(instance),
        _of(instance, "remove that disk", "OP_INSTANCE_SET_PARAMS", disks=[[REMOVE, LAST, {}]], ignore_ipolicy=True),
        start(instance),
    ]


def nics_changed(situation: Situation, instance: Burned) -> list[Part]:
    """One more interface, and away with it."""
    return [
        _of(
            instance,
            f"{verb} a network interface",
            "OP_INSTANCE_SET_PARAMS",
            nics=[[verb, LAST, {}]],
            ignore_ipolicy=True,
        )
        for verb in (ADD, REMOVE)
    ]


def activated(situation: Situation, instance: Burned) -> list[Part]:
    """Its disks become usable while it runs, which changes nothing, and while it does not."""
    activate, deactivate = "OP_INSTANCE_ACTIVATE_DISKS", "OP_INSTANCE_DEACTIVATE_DISKS"
    return [
        _of(instance, "activate its disks", activate),
        stop(instance),
        _of(instance, "activate its disks", activate),
        _of(instance, "deactivate its disks", deactivate),
        start(instance),
    ]


def restarted(situation: Situation, instance: Burned) -> list[Part]:
    """Down and up."""
    return [stop(instance), start(instance)]


def removal(name: str, *, whatever: bool = False) -> Part:
    """What removes an instance; `whatever` is left of it that cannot be removed, and its guest is not waited for long."""
    return Part(
        "remove",
        opcode(
            "OP_INSTANCE_REMOVE",
            instance_name=name,
            ignore_failures=unless(False, whatever),
            shutdown_timeout=SHORT if whatever else None,
        ),
    )


def removal_of_export(name: str) -> Part:
    """What removes all exports of a name, on whatever nodes they are."""
    return Part("remove the export", opcode(REMOVE_EXPORT, instance_name=name))
