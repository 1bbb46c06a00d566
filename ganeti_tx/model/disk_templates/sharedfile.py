"""Files in a directory that all nodes share."""

from ganeti_tx.model.disk_template import FORMAT, DirectoryCheck, Mirrored, Template
from ganeti_tx.model.enums import StorageType
from ganeti_tx.model.logical_id import FileId, InstancePath
from ganeti_tx.model.verify_codes import VerifyCode

TEMPLATE = Template(
    logical_id=FileId,
    storage=StorageType.SHAREDFILE,
    pool="shared_file_storage_dir",
    name="{uuid}.sharedfile.disk{index}",
    mirrored=Mirrored.EXTERNALLY,
    locate=lambda place, name: FileId(place.driver, InstancePath(f"{place.directory}/{name}")),
    check=DirectoryCheck("shared-file-storage-path", VerifyCode.ENODESHAREDFILESTORAGEPATHUNUSABLE),
    fixed=FORMAT,
    in_files=True,
    may_snapshot=True,
    driver="file",
)
