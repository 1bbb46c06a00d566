"""Changes of instances and disks: pure functions from one configuration to the next."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ganeti_tx.config.accounts import settled
from ganeti_tx.config.claims import disk_claims, instance_claims
from ganeti_tx.config.edit import Change, absent, fresh, nothing, renewed, stored, with_objects, without_objects
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.base import touched
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.enums import AdminState, AdminStateSource
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_communication import nic_name


def add_instance(instance: Instance, disks: Sequence[Disk]) -> Change[None]:
    """Add an instance with its disks, in their order; what was reserved for it is now its own."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        absent(f"instance {instance.name}", config.instances, instance.uuid)
        for disk in disks:
            absent(f"disk {disk.uuid} of instance {instance.name}", config.disks, disk.uuid)
        named = instance.disks or tuple(disk.uuid for disk in disks)
        after = with_objects(config, "disks", [fresh(disk, now) for disk in disks])
        after = with_objects(after, "instances", [fresh(replace(instance, disks=named), now)])
        return settled(config, after, now, instances=[instance.uuid], disks=[disk.uuid for disk in disks])

    return Change(
        edit, nothing, [*instance_claims(instance), *(claim for disk in disks for claim in disk_claims(disk))]
    )


def replace_instance(instance: Instance, disks: Sequence[Disk]) -> Change[None]:
    """Put an instance with its disks in the place of the one of its uuid with those that one had.

    So a reservation becomes an instance, and that one a reservation again.
    """

    def edit(config: ConfigData, now: float) -> ConfigData:
        held = stored("instance", config.instances, instance.uuid)
        after = without_objects(config, "disks", held.disks)
        for disk in disks:
            absent(f"disk {disk.uuid} of instance {instance.name}", after.disks, disk.uuid)
        new = tuple(disk.uuid for disk in disks)
        here = replace(instance, disks=new, ctime=held.ctime, serial_no=held.serial_no)
        after = with_objects(after, "disks", [fresh(disk, now) for disk in disks])
        after = with_objects(after, "instances", [touched(here, now)])
        return settled(config, after, now, instances=[instance.uuid], disks=[*held.disks, *new])

    return Change(
        edit, nothing, [*instance_claims(instance), *(claim for disk in disks for claim in disk_claims(disk))]
    )


def update_instance(instance: Instance) -> Change[Instance]:
    """Replace an instance whose serial number has not changed since it was read; gives the stored value."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        held = stored("instance", config.instances, instance.uuid)
        after = with_objects(config, "instances", [renewed(f"instance {held.name}", held, instance, now)])
        return settled(config, after, now, instances=[instance.uuid], disks=[])

    return Change(edit, lambda config: config.instances[instance.uuid], [*instance_claims(instance)])


def set_instance_state(
    uuid: str, admin_state: AdminState, source: AdminStateSource, disks_active: bool
) -> Change[Instance]:
    """Say what the operator wants of an instance; nothing changes when it is so already."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        held = stored("instance", config.instances, uuid)
        wanted = replace(held, admin_state=admin_state, admin_state_source=source, disks_active=disks_active)
        return config if wanted == held else with_objects(config, "instances", [touched(wanted, now)])

    return Change(edit, lambda config: config.instances[uuid])


def rename_instance(uuid: str, name: str, logical_ids: Mapping[str, tuple[str | int, ...]]) -> Change[Instance]:
    """Give an instance another name, and its disks (by uuid) the ids that come with it; nothing changes when it is so already.

    @raise ConfigurationError: another instance has the name.
    """

    def edit(config: ConfigData, now: float) -> ConfigData:
        held = stored("instance", config.instances, uuid)
        if any(each.name == name for other, each in config.instances.items() if other != uuid):
            raise ConfigurationError(f"instance {held.name} cannot be renamed: there is an instance {name}")
        disks = [stored("disk", config.disks, disk) for disk in logical_ids]
        moved = [replace(disk, logical_id=logical_ids[disk.uuid]) for disk in disks]
        changed = [touched(after, now) for before, after in zip(disks, moved, strict=True) if after != before]
        after = with_objects(config, "disks", changed)
        if held.name != name:
            after = with_objects(after, "instances", [touched(_named(held, name), now)])
        return settled(config, after, now, instances=[uuid], disks=[disk.uuid for disk in changed])

    return Change(edit, lambda config: config.instances[uuid])


def _named(held: Instance, name: str) -> Instance:
    """An instance by another name, after which the NIC is named by which it talks to its node."""
    own = nic_name(held.name)
    nics = tuple(replace(nic, name=nic_name(name)) if nic.name == own else nic for nic in held.nics)
    return replace(held, name=name, nics=nics)


def remove_instance(uuid: str) -> Change[None]:
    """Remove an instance with its disks; its network port goes back to the pool."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        held = stored("instance", config.instances, uuid)
        after = without_objects(without_objects(config, "instances", [uuid]), "disks", held.disks)
        return settled(config, after, now, instances=[uuid], disks=held.disks)

    return Change(edit, nothing)


def update_disk(disk: Disk) -> Change[Disk]:
    """Replace a disk whose serial number has not changed."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        held = stored("disk", config.disks, disk.uuid)
        after = with_objects(config, "disks", [renewed(f"disk {held.name or held.uuid}", held, disk, now)])
        return settled(config, after, now, instances=owners(config, disk.uuid), disks=[disk.uuid])

    return Change(edit, lambda config: config.disks[disk.uuid], [*disk_claims(disk)])


def add_disk(instance: str, disk: Disk, index: int | None = None) -> Change[None]:
    """Add a disk to an instance (a uuid), before the disk at `index`, or last."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        held = stored("instance", config.instances, instance)
        absent(f"disk {disk.uuid} of instance {held.name}", config.disks, disk.uuid)
        place = len(held.disks) if index is None else index
        if not 0 <= place <= len(held.disks):
            raise ConfigurationError(
                f"instance {held.name} has no place {place} for a disk, only 0 to {len(held.disks)}"
            )
        named = (*held.disks[:place], disk.uuid, *held.disks[place:])
        after = with_objects(config, "disks", [fresh(disk, now)])
        after = with_objects(after, "instances", [touched(replace(held, disks=named), now)])
        return settled(config, after, now, instances=[instance], disks=[disk.uuid])

    return Change(edit, nothing, [*disk_claims(disk)])


def remove_disk(uuid: str) -> Change[None]:
    """Remove a disk, from its instance too."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        stored("disk", config.disks, uuid)
        using = owners(config, uuid)
        held = [config.instances[owner] for owner in using]
        without = [
            touched(replace(each, disks=tuple(disk for disk in each.disks if disk != uuid)), now) for each in held
        ]
        after = with_objects(without_objects(config, "disks", [uuid]), "instances", without)
        return settled(config, after, now, instances=using, disks=[uuid])

    return Change(edit, nothing)


def owners(config: ConfigData, disk: str) -> list[str]:
    """The instances (one, if all is well) that have a disk."""
    return [uuid for uuid, instance in config.instances.items() if disk in instance.disks]
