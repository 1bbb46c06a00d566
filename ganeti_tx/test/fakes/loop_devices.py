"""Real block devices upon files, which need root."""

import os
import subprocess
from pathlib import Path
from unittest import SkipTest

MIB = 1 << 20


def need_loop_devices() -> None:
    """@raise SkipTest: there can be none here."""
    if os.geteuid() != 0 or not os.path.exists("/dev/loop-control"):
        raise SkipTest("loop devices need root, and a kernel that has them")


def attach(file: Path, size: int) -> str:
    """The loop device of a new file with so many MiB. @raise SkipTest: there can be none here."""
    need_loop_devices()
    with open(file, "wb") as made:
        made.truncate(size * MIB)
    done = subprocess.run(["losetup", "--find", "--show", str(file)], capture_output=True, text=True)
    if done.returncode != 0:
        raise SkipTest(f"no loop device can be had: {done.stderr.strip()}")
    return done.stdout.strip()


def detach(device: str) -> None:
    """Take one down."""
    subprocess.run(["losetup", "--detach", device], check=True)


def attached_to(file: Path) -> list[str]:
    """The loop devices upon a file."""
    done = subprocess.run(
        ["losetup", "--associated", str(file), "--output", "NAME", "--noheadings"],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()
