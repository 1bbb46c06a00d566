"""Puts many instances into a stopped cluster's configuration."""

import time
import uuid
from pathlib import Path

import msgspec

from ganeti_tx.bootstrap.keys import write_private
from ganeti_tx.model.config_data import ConfigData, decode, encode
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.enums import AdminState, AdminStateSource, DiskTemplate, Hypervisor
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.nic import Nic

CONFIG_MODE = 0o640


def filled(config: ConfigData, count: int) -> ConfigData:
    """The configuration with `count` stopped instances more, a disk of 10 GiB and a network interface each."""
    nodes = sorted(config.nodes)
    now = time.time()
    instances, disks = dict(config.instances), dict(config.disks)
    for number in range(count):
        disk_uuid, instance_uuid = str(uuid.uuid4()), str(uuid.uuid4())
        name = f"filler{number}.dev.example"
        disks[disk_uuid] = Disk(
            uuid=disk_uuid,
            dev_type=DiskTemplate.FILE,
            logical_id=("loop", f"{config.cluster.file_storage_dir}/{name}/{disk_uuid}.file.disk0"),
            size=10240,
            mode="rw",
            params={},
            iv_name="disk/0",
            serial_no=1,
            ctime=now,
            mtime=now,
        )
        mac = ":".join(f"{byte:02x}" for byte in (0xAA, 1, 0, number >> 16 & 255, number >> 8 & 255, number & 255))
        instances[instance_uuid] = Instance(
            uuid=instance_uuid,
            name=name,
            primary_node=nodes[number % len(nodes)],
            os="busybox+default",
            hypervisor=Hypervisor.FAKE,
            hvparams={},
            beparams={},
            osparams={},
            osparams_private={},
            admin_state=AdminState.DOWN,
            admin_state_source=AdminStateSource.ADMIN,
            nics=(Nic(uuid=str(uuid.uuid4()), mac=mac, nicparams={}),),
            disks=(disk_uuid,),
            disks_active=False,
            serial_no=1,
            ctime=now,
            mtime=now,
        )
    return msgspec.structs.replace(config, instances=instances, disks=disks, serial_no=config.serial_no + 1)


def fill(path: Path, count: int) -> None:
    """Rewrite a configuration file."""
    write_private(path, encode(filled(decode(path.read_bytes()), count)), CONFIG_MODE)
