"""Storage that is there already, and that parameters of a provider name: it is one disk's alone."""

from collections.abc import Collection, Mapping, Sequence

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import ECode, OpPrereqError, ReservationError
from ganeti_tx.model.base import Params
from ganeti_tx.model.disk_places import places_of_disks
from ganeti_tx.model.disk_template import Template
from ganeti_tx.model.instance_view import InstanceViews

#: The parameters that name storage, by provider.
Identities = Mapping[str, Sequence[str]]


async def reserve_storage(
    config: IConfig, disks: Sequence[tuple[Template, Params]], identities: Identities, own: Collection[str]
) -> None:
    """Reserve what disks are on until the job ends, and then look whose it is: of two jobs that ask for the same, one finds it
    reserved, or the disk of the other.

    @param own: the uuids of these disks, as far as they are in the configuration.
    @raise OpPrereqError: another disk is on it, or two of these.
    """
    named = [name for template, params in disks if (name := storage_name(template, params, identities)) is not None]
    for name in named:
        if named.count(name) > 1:
            raise OpPrereqError(f"storage {name} is named by two disks; each needs its own", ECode.NOTUNIQUE)
        try:
            await config.reserve_storage(name)
        except ReservationError as error:
            raise OpPrereqError(str(error), ECode.NOTUNIQUE) from None
    owners = owners_of_storage(await config.everything(), identities, own) if named else {}
    for name in named:
        if name in owners:
            raise OpPrereqError(f"storage {name} is that of {owners[name]}; each disk needs its own", ECode.NOTUNIQUE)


def storage_name(template: Template, params: Params, identities: Identities) -> str | None:
    """What the parameters of a disk name, for people, too; None if its provider makes it, or it has none."""
    provider = str(params.get(template.provider_key or "", ""))
    said = {key: params.get(key) for key in identities.get(provider, ())}
    if not said or any(value in (None, "") for value in said.values()):
        return None
    return f"{provider}: " + ", ".join(f"{key}={value}" for key, value in said.items())


def owners_of_storage(everything: InstanceViews, identities: Identities, own: Collection[str]) -> dict[str, str]:
    """Which disk is on storage that is named, by that name; `own` are left out."""
    places = places_of_disks(everything.instances)
    return {
        name: places.get(uuid, f"disk {uuid}, which no instance has")
        for uuid, name in storage_of_disks(everything, identities).items()
        if uuid not in own
    }


def storage_of_disks(everything: InstanceViews, identities: Identities) -> dict[str, str]:
    """What the parameters of disks name, by their uuids."""
    return {
        disk.uuid: name
        for disk in everything.disks.values()
        if (name := storage_name(disk.template, disk.params or {}, identities)) is not None
    }
