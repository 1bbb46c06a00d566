#!/bin/sh
# bare_root.sh ROOT DIRECTORY PATH... -- COMMAND...: runs a command in a root directory, as PID 1 of new mount, uts, ipc and pid
# namespaces: what it leaves running ends with it. PATHs of this machine are to be seen in there at the same place, read-only.
set -eu
root=$1 directory=$2
shift 2
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mount --make-rprivate /
mount --bind "$root" "$root"
while [ "$1" != -- ]; do
    mkdir -p "$root$1"
    mount --bind "$1" "$root$1"
    mount -o remount,bind,ro "$root$1"
    shift
done
shift

mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir "$root/dev/net" "$root/dev/pts" "$root/dev/shm"
for device in null zero full random urandom tty kvm net/tun; do
    [ ! -e "/dev/$device" ] || cp -a "/dev/$device" "$root/dev/$device"
done
ln -s /proc/self/fd "$root/dev/fd"
ln -s /proc/self/fd/0 "$root/dev/stdin"
ln -s /proc/self/fd/1 "$root/dev/stdout"
ln -s /proc/self/fd/2 "$root/dev/stderr"
ln -s pts/ptmx "$root/dev/ptmx"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
mount -t tmpfs tmpfs "$root/dev/shm"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t proc proc "$root/proc"
[ ! -e "$root/proc/sysrq-trigger" ] || mount --bind "$root/dev/null" "$root/proc/sysrq-trigger"
cd "$root"
pivot_root . .
umount -l .
hostname bare
cd "$directory"
"$@" </dev/null && exit 0 || exit $? # no exec: PID 1 stays and collects what ends
