#!/bin/busybox sh
# The first program of a paravirtualised guest: says a count every half a second. The kernel runs /sbin/poweroff and /sbin/reboot
# when Xen's tools ask for it.
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
number=0
while :; do
    number=$((number + 1))
    echo "tick $number"
    sleep 0.5
done
