Disk template ``gluster``: instances lie on a volume of Gluster, which nodes mount when they need it, or which QEMU opens by itself
(``--disk 0:access=userspace``). They move to any node, running or not, grow, get and lose disks while they run, and are converted
from and to other templates. ``doc/gluster.rst`` says how it is set up.
