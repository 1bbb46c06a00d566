Under systemd, machines of QEMU and what runs in a chroot are in scopes below ganeti-instances.slice, so that 'systemctl kill ganeti-noded' does not end them.
