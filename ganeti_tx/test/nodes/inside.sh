#!/bin/bash
# What runs inside new namespaces for ganeti_tx.test.nodes, which see:
#   inside.sh layer DIRECTORY COMMAND LOWER...           run COMMAND; what it changes is in DIRECTORY
#   inside.sh boot STATE K COUNT CGROUP SWITCH LOWER...  become node K: cgroup and switch are the machine's, LOWER its layers
# COVERED (the directories with overlays) and PACKAGES come by the environment.
set -eu

cover() {   # cover DIRECTORY LOWER...: overlays over the covered directories, written below DIRECTORY/up
  local name layer lower
  for name in $COVERED; do
    lower=/$name
    for layer in "${@:2}"; do [ ! -d "$layer/up/$name" ] || lower=$layer/up/$name:$lower; done
    mkdir -p "$1/up/$name" "$1/work/$name"
    mount -t overlay overlay -o "lowerdir=$lower,upperdir=$1/up/$name,workdir=$1/work/$name" "/$name"
  done
}

layer() {
  mount --make-rprivate /
  cover "$1" "${@:3}"
  printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d; chmod +x /usr/sbin/policy-rc.d    # packages start no daemon here
  SYSTEMD_OFFLINE=1 DEBIAN_FRONTEND=noninteractive bash -euc "$2"
  rm -f /usr/sbin/policy-rc.d
}

networks() {   # networks K SWITCH: eth0 and eth1 on the set's two switches, and a bridge for instances; eth0 has IPv6, too
  local i prefix=(192.0.2 198.51.100)
  ip link set lo up
  for i in 0 1; do
    ip link add "eth$i" address "02:00:00:00:0$i:0$1" type veth peer name "node$1-eth$i" netns "$2"
    nsenter --net="$2" ip link set "node$1-eth$i" master "switch$i" up
    ip address add "${prefix[i]}.$((10 + $1))/24" dev "eth$i"
    ip link set "eth$i" up
  done
  ip address add "2001:db8::$((10 + $1))/64" dev eth0 nodad || true    # a machine may be without IPv6
  ip link add br0 type bridge
  ip link set br0 up
}

devices() {
  local name dev=/run/dev
  mkdir $dev; mount -t tmpfs -o mode=755 tmpfs $dev; mkdir $dev/net $dev/pts $dev/shm
  for name in null zero full random urandom tty kvm fuse net/tun vhost-net; do
    [ ! -e "/dev/$name" ] || cp -a "/dev/$name" "$dev/$name"
  done
  for name in fd:/proc/self/fd stdin:/proc/self/fd/0 stdout:/proc/self/fd/1 stderr:/proc/self/fd/2 ptmx:pts/ptmx; do
    ln -s "${name#*:}" "$dev/${name%%:*}"
  done
  mount --move $dev /dev; rmdir $dev
  mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts /dev/pts
  mount -t tmpfs -o mode=1777 tmpfs /dev/shm
}

kernel_files() {   # what of the machine's kernel a node sees
  local random=/proc/sys/kernel/random
  mount -t sysfs -o ro sysfs /sys                                      # read-only: udev stays away
  mount -t proc proc /proc
  cat $random/uuid > /run/boot_id                                      # or nothing would see that the node was rebooted
  mount --bind /run/boot_id $random/boot_id; mount -o remount,bind,ro $random/boot_id
  mount --rbind /proc/sys /proc/sys; mount --bind /proc/sys/net /proc/sys/net; mount -o remount,bind,ro /proc/sys
  [ ! -e /proc/sysrq-trigger ] || mount --bind /dev/null /proc/sysrq-trigger              # it would reboot the machine
}

first_boot() {   # first_boot K COUNT
  local i
  echo "node$1.example.com" > /etc/hostname
  { echo "127.0.0.1 localhost"
    for ((i = 1; i <= $2; i++)); do echo "192.0.2.$((10 + i)) node$i.example.com node$i"; done
    echo "192.0.2.100 cluster.example.com cluster"
    for ((i = 1; i <= 8; i++)); do echo "192.0.2.$((100 + i)) web$i.example.com web$i"; done
    echo "::1 localhost"
    for ((i = 1; i <= $2; i++)); do echo "2001:db8::$((10 + i)) node$i.example.com node$i"; done
    echo "2001:db8::fe cluster.example.com cluster"
    for ((i = 1; i <= 8; i++)); do echo "2001:db8::$((100 + i)) web$i.example.com web$i"; done; } > /etc/hosts
  sed -i 's/^hosts:.*/hosts: files/' /etc/nsswitch.conf
  rm -f /etc/resolv.conf; : > /etc/resolv.conf
  cp -p "/etc/ssh/nodes/node$1" /etc/ssh/ssh_host_ed25519_key
  cp -p "/etc/ssh/nodes/node$1.pub" /etc/ssh/ssh_host_ed25519_key.pub
  install -d -m 700 /root/.ssh
  install -m 600 /etc/ssh/nodes/root /root/.ssh/id_ed25519
  install -m 600 /etc/ssh/nodes/root.pub /root/.ssh/authorized_keys
}

boot() {
  local state=$1 k=$2 count=$3 group=$4 own=/mnt/node$2
  echo 0 > "$group/cgroup.procs"
  mount --make-rprivate /
  networks "$k" "$5"
  mount --bind "$state" /mnt                                           # reachable, whatever is covered below
  mkdir -p "$own/root" "$own/tmp" /mnt/shared; chmod 700 "$own/root"; chmod 1777 "$own/tmp"
  cover "$own" "${@:6}"
  mount --bind "$own/root" /root
  mkdir -p /srv/shared; mount --bind /mnt/shared /srv/shared
  mount -t tmpfs -o mode=755 tmpfs /run
  devices
  kernel_files
  [ -e "$own/booted" ] || first_boot "$k" "$count"
  touch "$own/booted"
  mount --bind "$own/tmp" /tmp
  umount /mnt
  mount -o remount,bind,ro /
  cd /
  exec unshare --cgroup sh -c 'mount -t cgroup2 cgroup2 /sys/fs/cgroup
    exec env -i container=lxc PATH="$PATH" /lib/systemd/systemd --log-target=journal --show-status=0'
}

debian() {   # the layer of packages: none of what is enabled on this machine runs in a node
  local k
  rm -rf /etc/systemd/system/*.wants /etc/systemd/system/*.requires /etc/cron.d/* /etc/rc?.d/*
  # shellcheck disable=SC2086
  apt-get install -y -qq --no-install-recommends $PACKAGES || {
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends $PACKAGES
  }
  apt-get clean
  systemctl enable ssh.service
  systemctl set-default multi-user.target
  systemctl mask systemd-sysctl.service systemd-modules-load.service getty.target console-getty.service \
    sys-kernel-debug.mount sys-kernel-tracing.mount sys-kernel-config.mount
  printf '%s\n' 'MaxStartups 100' 'MaxSessions 100' 'HostKey /etc/ssh/ssh_host_ed25519_key' > /etc/ssh/sshd_config.d/nodes.conf
  rm -f /etc/ssh/ssh_host_*; mkdir -m 700 /etc/ssh/nodes
  ssh-keygen -q -t ed25519 -N '' -C root -f /etc/ssh/nodes/root
  for k in 1 2 3 4 5 6 7 8 9; do
    ssh-keygen -q -t ed25519 -N '' -C "node$k" -f "/etc/ssh/nodes/node$k"
    echo "node$k.example.com,node$k,192.0.2.$((10 + k)) $(cut -d' ' -f1,2 "/etc/ssh/nodes/node$k.pub")"
  done > /etc/ssh/ssh_known_hosts
  rm -f /var/lib/dbus/machine-id; : > /etc/machine-id
  : > /etc/fstab
  mkdir -p /var/log/journal
}

case $1 in
  layer) layer "${@:2}" ;;
  debian) debian ;;
  boot) boot "${@:2}" ;;
esac
