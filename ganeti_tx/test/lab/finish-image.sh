#!/bin/bash
# finish-image.sh DIRECTORY GUEST: DIRECTORY has vmlinuz and root/, a Debian; GUEST the kernel's package, if it is not this
# machine's own. Makes of them root.ext4 and an SSH key.
set -euo pipefail
directory=$1 guest=$2 root=$1/root

# The kernel's version is where the boot protocol's header says (kernel_version, offset 0x20e).
header=$(od -A n -t u2 -j 526 -N 2 "$directory/vmlinuz")
version=$(dd if="$directory/vmlinuz" bs=1 skip=$((header + 512)) count=100 status=none | tr '\0' ' ' | cut -d ' ' -f 1)
if package=$(ls "$guest"/linux-image-*.deb 2>/dev/null); then
    dpkg-deb --fsys-tarfile "$package" | tar -x -C "$directory" ./lib/modules
    mv "$directory/lib/modules" "$root/usr/lib/modules"
    rmdir "$directory/lib"
else
    cp -a "/lib/modules/$version" "$root/usr/lib/modules/"
fi
depmod -b "$root" "$version"

# The same key lets in who has the image, and the machines among each other.
ssh-keygen -q -t ed25519 -N '' -C lab -f "$directory/id_ed25519"
rm -f "$root"/etc/ssh/ssh_host_*
ssh-keygen -q -t ed25519 -N '' -C lab -f "$root/etc/ssh/ssh_host_ed25519_key"
mkdir -p -m 700 "$root/root/.ssh"
install -m 600 "$directory/id_ed25519.pub" "$root/root/.ssh/authorized_keys"
install -m 600 "$directory/id_ed25519" "$root/root/.ssh/id_ed25519"
cat > "$root/etc/ssh/sshd_config.d/lab.conf" <<'CONFIG'
UseDNS no
UsePAM no
MaxSessions 64
MaxStartups 64
HostKey /etc/ssh/ssh_host_ed25519_key
CONFIG
printf 'Host *\n    StrictHostKeyChecking accept-new\n    ConnectTimeout 20\n' > "$root/root/.ssh/config"

# Everything else comes with the disk of the program, at each boot.
mkdir -p "$root/lab"
: > "$root/etc/fstab"
: > "$root/etc/machine-id"
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*.bin "$root/sbin/init"
cat > "$root/sbin/init" <<'INIT'
#!/bin/sh
/bin/mount -t ext4 -o ro /dev/vdd /lab
exec /lab/boot.sh
INIT
chmod 755 "$root/sbin/init"

truncate -s 3G "$directory/root.ext4"
mke2fs -q -t ext4 -J size=8 -E lazy_itable_init=1,root_owner=0:0 -m 0 -d "$root" "$directory/root.ext4"
