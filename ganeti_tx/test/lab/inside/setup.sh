#!/bin/sh
# Makes a machine a node of the lab: name, two networks, LVM with the volume group xenvg, DRBD.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
for word in $(cat /proc/cmdline); do
    case $word in
    lab.node=*) node=${word#*=} ;;
    lab.init=*) init=${word#*=} ;;
    esac
done

echo "node$node.lab.example" > /etc/hostname
hostname "node$node.lab.example"
{
    echo "127.0.0.1 localhost"
    echo "10.99.0.100 cluster.lab.example cluster"
    echo "10.99.0.254 outside.lab.example outside"
    for each in 1 2 3 4 5 6 7 8 9; do echo "10.99.0.$each node$each.lab.example node$each"; done
} > /etc/hosts

# The program is installed, as far as a node sees; unless it really is.
echo /lab/python > /usr/local/lib/python3.11/dist-packages/lab.pth
[ -e /opt/ganeti_tx ] || ln -sf /lab/bin/* /usr/local/sbin/
if [ "$init" != systemd ]; then # these daemons need nothing of a machine, and each takes long to start
    for daemon in confd mond; do
        rm -f "/usr/local/sbin/ganeti-$daemon"
        printf '#!/bin/sh\n# Not run with this init.\n' > "/usr/local/sbin/ganeti-$daemon"
        chmod 755 "/usr/local/sbin/ganeti-$daemon"
    done
fi

# What udev would do takes long without KVM, and the quick init has none: the device mapper makes its nodes itself.
udev=0
[ "$init" != systemd ] || udev=1
cat > /etc/lvm/lvmlocal.conf <<CONFIG
devices {
    scan_lvs = 0
    filter = [ "a|^/dev/vd|", "a|^/dev/mapper/lab-|", "r|.*|" ]
}
activation {
    udev_sync = $udev
    udev_rules = $udev
    monitoring = 0
}
CONFIG

modprobe -a dm_mod dm_snapshot loop bridge tun
modprobe drbd minor_count=128 usermode_helper=/bin/true
echo /bin/true > /sys/module/drbd/parameters/usermode_helper # systemd has loaded it before

ip link set lo up
ip link add br0 type bridge
ip link set eth0 master br0
for device in br0 eth0 eth1; do ip link set "$device" up; done
ip addr add "10.99.0.$node/24" dev br0
ip addr add "10.99.1.$node/24" dev eth1

case $init in xen*) /lab/xen.sh ;; esac

vgs xenvg >/dev/null 2>&1 || vgcreate -q -s 4m xenvg /dev/vdb >/dev/null
vgchange -q -ay >/dev/null 2>&1
echo "lab: node$node is up" > /dev/console
