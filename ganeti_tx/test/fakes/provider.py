"""A real provider of external storage: shell scripts that keep volumes in files, or in loop devices upon these."""

from collections.abc import Collection
from pathlib import Path

REQUIRED = ("attach", "create", "detach", "grow", "remove", "setinfo", "verify")
OPTIONAL = ("close", "open", "snapshot")

SCRIPT = r"""#!/bin/sh
# One program under the names of all scripts; what it was told is appended to the file "told".
set -eu
volumes="%(volumes)s"
file="$volumes/$VOL_NAME"
what=$(basename "$0")
{ echo "$what"; env | grep -E '^(VOL|EXTP)_' | sort; echo; } >> "$volumes/told"
if [ -e "$volumes/fail-$what" ]; then echo "told to fail at $what" >&2; exit 3; fi
there() { [ -e "$file" ] || { echo "no such volume" >&2; exit 1; }; }
loop() { losetup --associated "$file" --output NAME --noheadings | head -n 1; }
case "$what" in
  create) [ ! -e "$file" ] || { echo "exists already"; exit 1; }; truncate -s "${VOL_SIZE}M" "$file" ;;
  attach)
    there
    if [ "%(loop)s" = yes ]; then
      device=$(loop)
      [ -n "$device" ] || device=$(losetup --find --show "$file")
      echo "$device"
    else
      echo "$file"
    fi
    echo "KVM:file:$file" ;;
  detach) [ "%(loop)s" != yes ] || [ -z "$(loop)" ] || losetup --detach "$(loop)" ;;
  remove) rm -f "$file" "$file.owner" ;;
  grow)
    there; truncate -s "${VOL_NEW_SIZE}M" "$file"
    [ "%(loop)s" != yes ] || [ -z "$(loop)" ] || losetup --set-capacity "$(loop)" ;;
  setinfo) there; echo "$VOL_METADATA" > "$file.owner" ;;
  snapshot) there; cp --sparse=always "$file" "$volumes/$VOL_SNAPSHOT_NAME" ;;
  open|close|verify) ;;
esac
"""


def write_provider(
    directory: Path, volumes: Path, *, without: Collection[str] = (), loop: bool = False, parameters: str = ""
) -> None:
    """Make a provider whose volumes are in a directory. @param without: scripts that it does not have."""
    directory.mkdir(parents=True)
    volumes.mkdir(parents=True, exist_ok=True)
    (directory / "parameters.list").write_text(parameters)
    for name in (*REQUIRED, *OPTIONAL):
        if name not in without:
            script = directory / name
            script.write_text(SCRIPT % {"volumes": volumes, "loop": "yes" if loop else "no"})
            script.chmod(0o755)


def told(volumes: Path) -> list[list[str]]:
    """For each script that was run its name, and its variables."""
    path = volumes / "told"
    runs = path.read_text().split("\n\n") if path.exists() else []
    return [run.splitlines() for run in runs if run]
