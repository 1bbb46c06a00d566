"""More programs for a machine, which reaches nobody: Debian's packages are downloaded outside, others are there already."""

import shlex
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from ganeti_tx.test.lab.kept import done
from ganeti_tx.test.lab.machine import Machine

#: Seconds for installing them.
LIMIT = 400.0
#: Programs with their libraries, as an archive.
PACK = "(printf '%s\\n' {0}; ldd {0} | sed -n 's/.*=> \\(\\/[^ ]*\\) .*/\\1/p' | sort -u) | tar -chP -f - -T -"


def add_packages(machine: Machine, *names: str) -> None:
    """Install them with what they need, as far as the machine has it not. @raise LabFailed: it cannot be done."""
    with TemporaryDirectory(prefix="ganeti-lab-packages-") as place:
        status = Path(place, "status")
        status.write_text(machine.run("cat /var/lib/dpkg/status"))
        Path(place, "partial").mkdir()
        options = [f"Dir::State::status={status}", f"Dir::Cache::archives={place}", "Debug::NoLocking=1"]
        words = [word for each in options for word in ("-o", each)]
        done(["apt-get", "-q", "-y", "-d", "--no-install-recommends", *words, "install", *names])
        send(machine, *sorted(Path(place).glob("*.deb")))
    machine.run("dpkg -i /root/sent/*.deb && rm -r /root/sent", limit=LIMIT)


def send(machine: Machine, *files: Path) -> None:
    """Put files into /root/sent there. @raise CalledProcessError: it does not take them."""
    machine.run("mkdir -p /root/sent")
    for path in files:
        with path.open("rb") as content:
            subprocess.run([*machine.ssh(), f"cat > /root/sent/{path.name}"], stdin=content, check=True, timeout=LIMIT)


def send_programs(machine: Machine, *paths: str) -> None:
    """Put programs of this machine there, with those of their libraries that it has not.

    @raise CalledProcessError: it does not take them.
    """
    packed = subprocess.Popen(["sh", "-c", PACK.format(shlex.join(paths))], stdout=subprocess.PIPE)
    subprocess.run([*machine.ssh(), "tar -xP --skip-old-files -f -"], stdin=packed.stdout, check=True, timeout=LIMIT)
    machine.run("ldconfig", limit=LIMIT)


def send_directory(machine: Machine, directory: Path, place: str) -> None:
    """Put a directory below another one there. @raise CalledProcessError: it does not take it."""
    argv = ["tar", "-c", "--owner=root", "--group=root", "-C", str(directory.parent), directory.name]
    packed = subprocess.Popen(argv, stdout=subprocess.PIPE)
    unpack = f"mkdir -p {place} && tar -x -C {place}"
    subprocess.run([*machine.ssh(), unpack], stdin=packed.stdout, check=True, timeout=LIMIT)
