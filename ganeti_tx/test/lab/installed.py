"""This checkout installed on a machine as the README says: an environment in /opt, then `ganeti-setup`."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from ganeti_tx.test.lab.kept import LabFailed, done
from ganeti_tx.test.lab.machine import Machine
from ganeti_tx.test.nodes.layers import LayerFailed, cache_directory, ganeti, made

PLACE = "opt/ganeti_tx"
#: Seconds that setting up may take.
LIMIT = 400.0
#: Seconds that each program of a unit may take there, which Python alone needs half of when ours is busy.
START_LIMIT = 400
TIMERS = "ganeti-watcher.timer ganeti-cleaner-master.timer ganeti-cleaner-node.timer"
#: The daemons that nothing of a cluster waits for: each takes a minute of a machine to start, at each boot. What stands in for them
#: holds their pid files, as whoever starts them wants to see.
LEFT_OUT = "confd mond rapi"
PLACE_HOLDER = "/usr/local/sbin/lab-daemon"
HOLD = r"""#!/bin/sh
exec 9>> /run/ganeti/$1.pid && flock -n 9 && echo $$ > /run/ganeti/$1.pid && systemd-notify --ready && exec sleep infinity
"""
UNIT = f"""[Service]
User=root
TimeoutStartSec={START_LIMIT}
CapabilityBoundingSet=~
NotifyAccess=all
ExecStartPre=
ExecStart=
ExecStart=/bin/sh {PLACE_HOLDER} %p
"""
#: The other programs of the lab give way. What the machine has read of its empty disk it reads anew. What timers start, as the
#: watcher, takes minutes there.
INSTALL = f"""
rm -f /usr/local/sbin/ganeti-* /usr/local/sbin/gnt /usr/local/sbin/gnt-*
blockdev --flushbufs /dev/vdc
mkdir -p /{PLACE}
echo '/dev/vdc /{PLACE} ext4 noatime 0 0' >> /etc/fstab
mkdir -p /etc/systemd/system/ganeti-.service.d
printf '[Service]\\nTimeoutStartSec={START_LIMIT}\\n' > /etc/systemd/system/ganeti-.service.d/lab.conf
printf %s '{HOLD}' > {PLACE_HOLDER}
for daemon in {LEFT_OUT}; do
    mkdir -p /etc/systemd/system/ganeti-$daemon.service.d
    printf %s '{UNIT}' > /etc/systemd/system/ganeti-$daemon.service.d/lab.conf
done
mount /{PLACE} && /{PLACE}/bin/ganeti-setup && systemctl disable --quiet --now {TIMERS}
"""


def install(machine: Machine) -> str:
    """What ganeti-setup said. @raise LabFailed: it failed.

    The environment is made outside, once, and mounted from the machine's empty disk, as pip takes many minutes there.
    """
    try:
        layers = made(ganeti(), cache_directory())
    except LayerFailed as error:
        raise LabFailed(str(error)) from None
    with TemporaryDirectory(prefix="ganeti-lab-install-", dir="/var/tmp") as tree:
        for layer in layers:
            if (found := in_layer(layer)).exists():
                shutil.copytree(found, tree, symlinks=True, dirs_exist_ok=True)
        Path(tree).chmod(0o755)
        done(["mke2fs", "-q", "-F", "-t", "ext4", "-E", "root_owner=0:0", "-d", tree, str(machine.data_disk)])
    return machine.run(INSTALL, limit=LIMIT)


def in_layer(layer: Path) -> Path:
    """The environment, as far as a layer has it."""
    return layer / "up" / PLACE
