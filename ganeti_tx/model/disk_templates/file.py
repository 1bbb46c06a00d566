"""Files in a directory of the node."""

from ganeti_tx.model.disk_template import FORMAT, DirectoryCheck, Template
from ganeti_tx.model.enums import StorageType
from ganeti_tx.model.logical_id import FileId, InstancePath
from ganeti_tx.model.verify_codes import VerifyCode

TEMPLATE = Template(
    logical_id=FileId,
    storage=StorageType.FILE,
    pool="file_storage_dir",
    name="{uuid}.file.disk{index}",
    locate=lambda place, name: FileId(place.driver, InstancePath(f"{place.directory}/{name}")),
    check=DirectoryCheck("file-storage-path", VerifyCode.ENODEFILESTORAGEPATHUNUSABLE),
    fixed=FORMAT,
    in_files=True,
    may_snapshot=True,
    driver="file",
)
