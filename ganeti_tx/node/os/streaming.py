"""The scripts of OS definitions that print what is on a disk, or fill one with what they read (reference: os-interface.json)."""

from collections.abc import Sequence

from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.opcodes.private import hidden_texts
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.os.environment import os_environment
from ganeti_tx.node.os.scripts import OsScripts
from ganeti_tx.node.transfer.spec import Script
from ganeti_tx.runtime.script_log import log_name

EXPORT, IMPORT = "export", "import"


def streaming(
    scripts: OsScripts,
    name: str,
    instance: InstanceSpec,
    disks: Sequence[AttachedDisk],
    index: int,
    device: AttachedDisk,
    debug: int = 0,
    prefix: Sequence[str] = (),
) -> tuple[Sequence[str], Script]:
    """The command, and how it is run. @param device: the disk of that index, or a snapshot of it.

    @param prefix: what stands before the command.
    @raise OpPrereqError: the OS is not here, or has no such script.
    """
    os = scripts.catalogue.find(instance.os)
    script = Script(
        environment={
            **os_environment(os, instance, disks, debug),
            **device_variables(name.upper(), device),
            f"{name.upper()}_INDEX": str(index),
        },
        directory=str(os.path),
        log_directory=str(scripts.paths.log_os_dir),
        log_name=log_name(name, instance.os, f"{instance.name}-disk{index}", scripts.now()),
        hidden=hidden_texts([*instance.osparams_private.values(), *instance.osparams_secret.values()]),
    )
    return [*prefix, str(os.script(name))], script


def device_variables(prefix: str, device: AttachedDisk) -> dict[str, str]:
    """Where the data are: those that there are."""
    found = {"DEVICE": device.path, "DISK_PATH": device.path, "DISK_URI": device.uri}
    return {f"{prefix}_{key}": value for key, value in found.items() if value}
