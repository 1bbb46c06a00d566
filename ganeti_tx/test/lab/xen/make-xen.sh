#!/bin/bash
# make-xen.sh DIRECTORY GUEST INITRD_INIT GUEST_INIT SUITE: DIRECTORY has root/, a Debian with Xen's tools; GUEST is what make-guest has
# made, and a boot sector; its kernel is that of guests here. Makes in DIRECTORY xen.elf, vmlinuz (the first domain's kernel, whose package is in
# debs/) and initrd.img for it, and in root/boot the kernel, the initial RAM disk and the boot disk (of one sector) of guests.
set -euo pipefail
directory=$1 guest=$2 initrd_init=$3 guest_init=$4 suite=$5 root=$1/root

depends_on() { apt-cache depends "$1" | sed -n "s/^ *Depends: \($2\)\$/\1/p" | head -n 1; }
mkdir "$directory/debs" "$directory/tree"
(
    cd "$directory/debs"
    apt-get download -q "$(depends_on linux-image-amd64 'linux-image-[0-9].*')"
    # That of its security updates has no shadow paging, without which no paravirtualised guest goes to another node.
    apt-get download -q -t "$suite" "$(depends_on xen-system-amd64 'xen-hypervisor-[0-9.]*-amd64')"
)
for deb in "$directory"/debs/*.deb; do dpkg-deb -x "$deb" "$directory/tree"; done
gzip -dc "$directory"/tree/boot/xen-*-amd64.gz > "$directory/xen.elf"
kernel=$(ls "$directory"/tree/boot/vmlinuz-*)
version=${kernel##*/vmlinuz-}
cp "$kernel" "$directory/vmlinuz"
depmod -b "$directory/tree" "$version"

# Loads the drivers of the disks, and goes on from the first one.
initrd=$directory/initrd
mkdir -p "$initrd"/{bin,dev,proc,sys,modules,mnt}
cp "$(command -v busybox)" "$initrd/bin/busybox"
install -m 755 "$initrd_init" "$initrd/init"
for module in virtio_pci virtio_blk crc32c_generic ext4 virtio_net; do
    modprobe -d "$directory/tree" -S "$version" --show-depends "$module" | sed -n 's/^insmod \([^ ]*\).*/\1/p'
done | awk '!seen[$0]++' | while read -r module; do
    cp "$module" "$initrd/modules/"
    basename "$module"
done > "$initrd/modules/order"
(cd "$initrd" && find . | cpio -o -H newc -R 0:0 --quiet) > "$directory/initrd.img"

small=$directory/small
mkdir -p "$small"/{bin,dev,proc,sys} "$root/boot"
cp "$(command -v busybox)" "$small/bin/busybox"
(cd "$small" && gzip -dc "$guest/initrd.img" | cpio -id --quiet 'modules/xen-*')
install -m 755 "$guest_init" "$small/init"
(cd "$small" && find . | cpio -o -H newc -R 0:0 --quiet | gzip -1) > "$root/boot/guest.img"
install -m 644 "$guest/vmlinuz" "$root/boot/guest"
install -m 644 "$guest/sector" "$root/boot/sector"
truncate -s 1M "$root/boot/sector"
rm -rf "$directory"/{tree,initrd,small} "$directory"/debs/xen-hypervisor-*
