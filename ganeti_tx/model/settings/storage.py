"""Settings about where disks are kept."""

from typing import Annotated

from ganeti_tx.model.settings.checks import directory, program, volume_group
from ganeti_tx.model.settings.nodes import ON_MODIFY, NodeSettings
from ganeti_tx.model.settings.setting import Fact, Flag, Form, Program, Reading, Setting
from ganeti_tx.model.values import NonEmpty, NonNegative

GLUSTER_MOUNTS = "/var/run/ganeti/gluster"


class StorageSettings(NodeSettings, frozen=True, kw_only=True):
    """The third part of a cluster's settings."""

    volume_group_name: Annotated[
        str | None,
        Setting(
            initial=None,
            parameter="vg_name",
            check=volume_group,
            flags=(Flag("--vg-name", "the LVM volume group for disks", metavar="VG"),),
            facts=(Fact("lvm volume group"),),
        ),
    ] = None
    reserved_lvs: Annotated[
        tuple[str, ...],
        Setting(
            default=(),
            takes=tuple[NonEmpty, ...],
            flags=(
                Flag(
                    "--reserved-lvs", "patterns of logical volumes that are not the cluster's, comma separated",
                    reading=Reading.WORDS, on=ON_MODIFY,
                ),
            ),
            facts=(Fact("lvm reserved volumes", Form.WORDS_OR_NONE),),
        ),
    ]  # fmt: skip
    drbd_usermode_helper: Annotated[
        str | None,
        Setting(
            initial=None,
            parameter="drbd_helper",
            check=program,
            flags=(Flag("--drbd-usermode-helper", "the helper that DRBD calls"),),
            facts=(Fact("drbd usermode helper"),),
        ),
    ] = None
    file_storage_dir: Annotated[
        str,
        Setting(
            default="",
            initial="/srv/ganeti/file-storage",
            check=directory,
            flags=(Flag("--file-storage-dir", "directory for file disks", metavar="DIR"),),
            facts=(Fact("file storage path"),),
        ),
    ]
    shared_file_storage_dir: Annotated[
        str,
        Setting(
            default="",
            initial="/srv/ganeti/shared-file-storage",
            check=directory,
            flags=(Flag("--shared-file-storage-dir", "directory for shared file disks", metavar="SHAREDDIR"),),
            facts=(Fact("shared file storage path"),),
        ),
    ]
    #: MiB (design-2.0, "Cluster defaults"). Left out while it is 0, so that versions read the configuration that do not know it.
    default_disk_size: Annotated[
        int,
        Setting(
            default=0,
            takes=NonNegative,
            flags=(
                Flag(
                    "--default-disk-size",
                    "size of new disks of which none is given; with 0 it must be given",
                    "unit",
                    metavar="SIZE",
                    own=True,
                ),
            ),
            facts=(Fact("default disk size", Form.NUMBER),),
        ),
    ] = 0
    gluster_storage_dir: Annotated[
        str,
        Setting(
            default="",
            initial=GLUSTER_MOUNTS,
            check=directory,
            flags=(
                Flag(
                    "--gluster-storage-dir", "where Gluster volumes are mounted",
                    metavar="GLUSTERDIR", default=GLUSTER_MOUNTS, on=(Program.INIT,),
                ),
            ),
            facts=(Fact("gluster storage path"),),
        ),
    ]  # fmt: skip
