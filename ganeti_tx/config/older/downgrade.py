"""Back to the layout of 2.16, of which 3.0 differs in two keys (reference: config-history.json)."""

from collections.abc import Iterator

from ganeti_tx.config.older.parameters import by_hypervisor, keep, own_hvparams, own_parameters
from ganeti_tx.config.older.raw import Raw, mapping, objects
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.config_data import CONFIG_VERSION
from ganeti_tx.model.decoding import read_json
from ganeti_tx.model.disk_formats import KEY, format_of
from ganeti_tx.model.disk_template import RAW
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate

OLDER_VERSION = 2160000
#: What 2.16 does not know: its programs refuse keys that they do not know. All nodes' keys were DSA ones then.
SSH_KEY_TYPE = "ssh_key_type"
OLDER_SSH_KEY_TYPE = "dsa"
SINCE = (SSH_KEY_TYPE, "ssh_key_bits")
#: And what no version of Ganeti's knows.
OWN = ("default_group", "default_disk_size")


class NoWayBack(ConfigurationError):
    """What stands in the way, a line each."""

    def __str__(self) -> str:
        return "\n".join(map(str, self.args))


def downgraded(data: bytes) -> Raw:
    """The text of a configuration of 3.0 as dicts and lists of 2.16; all else is kept.

    @raise ConfigurationError: it cannot be had in that layout; with all that stands in the way, a line each.
    """
    raw: Raw = read_json(data)
    if raw["version"] == OLDER_VERSION:
        return raw
    if raw["version"] != CONFIG_VERSION:
        raise ConfigurationError(
            f"Downgrade supported only from the latest version ({short(CONFIG_VERSION)}), found {raw['version']} "
            f"({dotted(raw['version'])}) instead"
        )
    cluster = mapping(raw, "cluster")
    if faults := [*key_faults(cluster), *disk_faults(raw, "no version of Ganeti's can read")]:
        raise NoWayBack(*faults)
    for key in (*SINCE, *OWN):
        cluster.pop(key, None)
    for hypervisor, params in (*by_hypervisor(mapping(cluster, "hvparams")), *own_hvparams(raw)):
        keep(params, params.keys() - own_parameters(hypervisor))
    return {**raw, "version": OLDER_VERSION, "serial_no": raw["serial_no"] + 1}


def key_faults(cluster: Raw) -> Iterator[str]:
    """What the older version does not know of keys."""
    kind = cluster.get(SSH_KEY_TYPE, OLDER_SSH_KEY_TYPE)
    if kind != OLDER_SSH_KEY_TYPE:
        yield (
            f"the nodes' SSH keys are of the type {kind}, and {short(OLDER_VERSION)} knows {OLDER_SSH_KEY_TYPE} keys only; "
            f"renew them first: gnt-cluster renew-crypto --new-ssh-keys --ssh-key-type={OLDER_SSH_KEY_TYPE}"
        )


def disk_faults(raw: Raw, why: str) -> Iterator[str]:
    """Programs that know no formats would take what is in the file of a disk for what its guest has written there.

    A line for each such disk. @param why: behind "which".
    """
    for disk in objects(raw, "disks"):
        word = str(disk.get("dev_type"))
        own = format_of(TEMPLATES[DiskTemplate(word)], disk.get("params")) if word in tuple(DiskTemplate) else RAW
        if own != RAW:
            owner = next((str(each.get("name")) for each in objects(raw, "instances") if is_of(disk, each)), "INSTANCE")
            yield (
                f"disk {disk.get('uuid')} is of format {own}, which {why}; convert it first: "
                f"gnt-instance modify -t {word} -e {KEY}={RAW} {owner}"
            )


def is_of(disk: Raw, instance: Raw) -> bool:
    """Whether an instance has a disk."""
    return disk.get("uuid") in (instance.get("disks") or ())


def dotted(version: int) -> str:
    """A version as people write it: 2160000 is 2.16.0."""
    return f"{short(version)}.{version % 10000}"


def short(version: int) -> str:
    """Without its revision: 2160000 is 2.16."""
    return f"{version // 1000000}.{version // 10000 % 100}"
