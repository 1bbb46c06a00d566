"""The directories of this driver, which are to be root's alone."""

from ganeti_tx.node.hypervisor.own_directories import check_directories
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths


def check_own(files: IFiles, paths: Paths) -> None:
    """@raise HypervisorError: one of them, if it is there, is somebody else's, or others may write to it."""
    directories = (paths.kvm_dir, paths.kvm_pid_dir, paths.kvm_control_dir, paths.kvm_conf_dir)
    check_directories(
        files,
        (
            *(*directories, paths.kvm_firmware_dir, paths.kvm_keys_dir),
            *(paths.kvm_nic_dir, paths.kvm_chroot_dir, paths.log_kvm_dir),
        ),
    )
