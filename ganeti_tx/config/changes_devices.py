"""An instance changed together with its disks: what comes with it, what leaves it, what is said of them."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from ganeti_tx.config.accounts import settled
from ganeti_tx.config.claims import disk_claims, instance_claims
from ganeti_tx.config.edit import Change, absent, fresh, renewed, stored, with_objects, without_objects
from ganeti_tx.model.base import touched
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.disk import Disk, DiskSettings, with_settings
from ganeti_tx.model.instance import Instance


def change_instance(instance: Instance, added: Sequence[Disk], changed: Sequence[DiskSettings]) -> Change[Instance]:
    """Replace an instance whose serial number has not changed since it was read, with its disks.

    @param added: disks that it names and that are new; others that it names have no owner yet, or are its own. Those of its
    own that it does not name any more stay in the configuration, as nobody's.
    @param changed: what is new about disks that are there.
    """

    def edit(config: ConfigData, now: float) -> ConfigData:
        held = stored("instance", config.instances, instance.uuid)
        for disk in added:
            absent(f"disk {disk.uuid} of instance {held.name}", config.disks, disk.uuid)
        after = with_objects(config, "disks", [fresh(disk, now) for disk in added])
        after = with_objects(after, "instances", [renewed(f"instance {held.name}", held, instance, now)])
        after = with_new_settings(after, instance.uuid, changed, now)
        concerned = {*held.disks, *instance.disks, *(each.uuid for each in changed)}
        return settled(config, after, now, instances=[instance.uuid], disks=concerned)

    claims = [*instance_claims(instance), *(claim for disk in added for claim in disk_claims(disk))]
    return Change(edit, lambda config: config.instances[instance.uuid], claims)


def restore_instance(former: Instance, settings: Sequence[DiskSettings], without: Sequence[str]) -> Change[None]:
    """Take `change_instance` back, if it was done: the instance and its disks as they were, without those that came with it.

    @param without: the uuids of disks that were not in the configuration before.
    """

    def edit(config: ConfigData, now: float) -> ConfigData:
        held = stored("instance", config.instances, former.uuid)
        if held.serial_no <= former.serial_no:
            return config
        wanted = touched(replace(former, serial_no=held.serial_no), now)
        gone = [uuid for uuid in without if uuid in config.disks]
        after = with_objects(without_objects(config, "disks", gone), "instances", [wanted])
        after = with_new_settings(after, former.uuid, settings, now)
        return settled(config, after, now, instances=[former.uuid], disks={*held.disks, *former.disks, *gone})

    return Change(edit, lambda config: None)


def with_new_settings(config: ConfigData, uuid: str, changed: Iterable[DiskSettings], now: float) -> ConfigData:
    """The configuration with what is said of disks, and each disk of an instance told its place there."""
    given = {each.uuid: each for each in changed}
    places = {disk: f"disk/{index}" for index, disk in enumerate(config.instances[uuid].disks)}
    after = []
    for disk in {*given, *places} & config.disks.keys():
        held = config.disks[disk]
        wanted = with_settings(held, given[disk]) if disk in given else held
        wanted = replace(wanted, iv_name=places.get(disk, held.iv_name))
        if wanted != held:
            after.append(touched(wanted, now))
    return with_objects(config, "disks", after) if after else config
