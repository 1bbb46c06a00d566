#!/bin/sh
# The first program of a machine, process 1. The kernel's command line says lab.node=NUMBER and lab.init=quick or systemd:
# quick is an init that starts nothing but an SSH server and the agent, as everything is slow where there is no KVM.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
case " $(cat /proc/cmdline) " in
*" lab.init=systemd "*)
    cat > /etc/systemd/system/lab-setup.service <<'UNIT'
[Unit]
Description=Network, volume group and name of a machine of the lab
After=systemd-udevd.service
Before=ssh.service lab-agent.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/lab/setup.sh
UNIT
    cat > /etc/systemd/system/lab-agent.service <<'UNIT'
[Unit]
Description=Runs programs for tests

[Service]
ExecStart=/lab/agent.sh
Restart=always
UNIT
    wanted=/etc/systemd/system/multi-user.target.wants
    mkdir -p "$wanted"
    ln -sf ../lab-setup.service ../lab-agent.service "$wanted/"
    for unit in e2scrub_reap.service e2scrub_all.timer apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer \
        apparmor.service lxc.service lxc-net.service; do
        ln -sf /dev/null "/etc/systemd/system/$unit" # which take a minute where there is no KVM
    done
    exec /usr/lib/systemd/systemd
    ;;
esac
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs tmpfs /tmp
# What udev links; Xen's script for disks never ends without.
ln -s /proc/self/fd /dev/fd
ln -s fd/0 /dev/stdin
ln -s fd/1 /dev/stdout
ln -s fd/2 /dev/stderr
mkdir -p /run/sshd /run/lock /run/lvm /dev/pts /dev/shm
mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t securityfs securityfs /sys/kernel/security
cat > /etc/inittab <<'INITTAB'
::sysinit:/lab/setup.sh
::respawn:/usr/sbin/sshd -D -e
::respawn:/lab/agent.sh
::ctrlaltdel:/bin/busybox reboot -f
INITTAB
exec /bin/busybox init
