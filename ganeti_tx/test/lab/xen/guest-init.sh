#!/bin/busybox sh
# The first program of a paravirtualised guest: says a count every half a second, and what becomes of its disk and its interface:
#   begins               first of all
#   tick COUNT
#   disk SECTORS COUNT   of its first disk, on which each count is written; before the first tick what was there
#   answer ADDRESS       words of the kernel: address=ADDRESS/LENGTH of its first interface, ask=ADDRESS whose answer it wants
# The kernel runs /sbin/poweroff and /sbin/reboot when Xen's tools ask for it.
/bin/busybox mkdir -p /sbin /dev /proc /sys
/bin/busybox --install -s /bin
for what in poweroff reboot; do
    rm -f "/bin/$what"
    printf '#!/bin/busybox sh\nexec /bin/busybox %s -f\n' "$what" > "/sbin/$what"
    chmod 755 "/sbin/$what"
done
mount -t devtmpfs devtmpfs /dev
mount -t proc proc /proc
mount -t sysfs sysfs /sys
echo 1 > /proc/sys/kernel/printk
echo begins

has() { [ -e "$1" ]; }
# What a driver makes of a device that Xen has: appears WHAT-IS-MADE, for some seconds at most.
appears() {
    for _ in $(seq 100); do
        # shellcheck disable=SC2086
        has $1 && break
        sleep 0.1
    done
}
if has /sys/bus/xen/devices/vbd-*; then
    insmod /modules/xen-blkfront.ko
    appears '/sys/block/xvd*'
fi
if has /sys/bus/xen/devices/vif-0; then
    insmod /modules/xen-netfront.ko
    appears /sys/class/net/eth0
fi
disk=$(ls /sys/block | grep -m 1 xvd)
for word in $(cat /proc/cmdline); do
    case $word in
    address=*)
        ip link set eth0 up
        ip address add "${word#*=}" dev eth0
        ;;
    ask=*) asked=${word#*=} ;;
    esac
done

kept() { dd "if=/dev/$disk" bs=512 count=1 iflag=direct 2>/dev/null | tr -dc 0-9; }
keep() { echo "$1" | dd "of=/dev/$disk" bs=512 conv=sync,fsync 2>/dev/null; }
say_disk() { echo "disk $(cat "/sys/block/$disk/size") $(kept)"; }

[ -z "$disk" ] || say_disk
number=0
while :; do
    number=$((number + 1))
    echo "tick $number"
    if [ -n "$disk" ]; then
        keep "$number"
        say_disk
    fi
    if [ -n "$asked" ] && ping -c 1 -W 1 "$asked" >/dev/null 2>&1; then echo "answer $asked"; fi
    sleep 0.5
done
