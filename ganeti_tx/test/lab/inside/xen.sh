#!/bin/sh
# Makes a machine that Xen has booted a node of its own: what the package xen-utils starts where there is an init that starts things.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
library=$(ls -d /usr/lib/xen-[0-9]*/ | tail -n 1)
PATH=$PATH:${library}bin

mkdir -p /run/lock /run/xen /run/xenstored /var/lib/xen /var/lib/xenstored /var/log/xen/console
modprobe -a xenfs xen-evtchn xen-gntdev xen-gntalloc xen-privcmd xen-blkback xen-netback
mount -t xenfs xenfs /proc/xen
oxenstored --pid-file /run/xen/xenstored.pid
# First of all who write to the store: it finds nothing to do when there is something, and no domain can be made then.
"${library}bin/xen-init-dom0"
xenconsoled --pid-file=/run/xen/xenconsoled.pid --log=all --log-dir=/var/log/xen/console

# Guests' kernel and initial RAM disk are of the image; a guest says ticks as long as it runs.
xl list
setsid python3 -m ganeti_tx.test.lab.ready_vifs </dev/null >/var/log/xen/ready-vifs.log 2>&1 &
