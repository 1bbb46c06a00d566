"""A Debian with cloud-init, as cloud images have it, on a disk for a container."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ganeti_tx.test.lab.image import SUITE, debian
from ganeti_tx.test.lab.kept import done, kept

PACKAGES = "cloud-init,ifupdown,iproute2,isc-dhcp-client,openssh-server,procps,python3-yaml,systemd-sysv"
SIZE = 1200 << 20
#: What stands where cloud-init puts the name, until it does.
BEFORE = "nobody"
#: The first process: what a cloud image's own units do, one after the other. cloud-init chooses the source by itself.
INIT = """#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
trap 'exit 0' PWR
mkdir -p /run/lock /run/network
{dhcp}
for step in "init --local" init "modules --mode=config" "modules --mode=final"; do
    cloud-init $step
done >/var/log/steps 2>&1
touch /done
while :; do sleep 0.2; done
"""
#: Sources as the images of clouds have them in their settings.
EC2 = """datasource_list: [Ec2]
datasource:
  Ec2: {strict_id: false, timeout: 5, max_wait: 60}
"""
NOCLOUD = """datasource_list: [NoCloud]
datasource:
  NoCloud: {seedfrom: "http://169.254.169.254/ganeti/latest/nocloud/"}
"""


def cloud_root() -> Path:
    """The tree, made once."""
    return (
        kept("cloud", [SUITE.encode(), PACKAGES.encode()], lambda directory: debian(directory / "root", PACKAGES))
        / "root"
    )


def cloud_disk(path: Path, source: str, address_of: str) -> None:
    """Make the disk. @param source: cloud-init's settings. @param address_of: the interface whose address is told by DHCP."""
    with path.open("wb") as file:
        file.truncate(SIZE)
    done(["mke2fs", "-q", "-F", "-t", "ext4", "-d", str(cloud_root()), str(path)])
    with mounted(path) as root:
        (root / "sbin/init").unlink()
        (root / "sbin/init").write_text(INIT.format(dhcp=f"dhclient -1 {address_of}"))
        (root / "sbin/init").chmod(0o755)
        (root / "etc/hostname").write_text(f"{BEFORE}\n")
        (root / "etc/cloud/cloud.cfg.d/90_source.cfg").write_text(source)
        (root / "etc/network/interfaces").write_text("source /etc/network/interfaces.d/*\n")


@contextmanager
def mounted(path: Path) -> Iterator[Path]:
    """What is on a disk that nobody uses."""
    with TemporaryDirectory() as place:
        subprocess.run(["mount", "-o", "loop", str(path), place], check=True)
        try:
            yield Path(place)
        finally:
            subprocess.run(["umount", place], check=True)
