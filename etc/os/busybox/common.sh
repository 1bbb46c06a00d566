# Read by the scripts of this directory: checks and steps that several of them take.
set -eu
export LC_ALL=C
PATH=/usr/sbin:/usr/bin:/sbin:/bin
here=$(cd "$(dirname "$0")" && pwd)

fail() {
  echo "${0##*/}: $*" >&2
  exit 1
}

need() {
  for tool in "$@"; do
    command -v "$tool" >/dev/null || fail "$tool is not installed"
  done
}

# A disk to write on: a block device, or a file that is there already.
check_disk() {
  [ -b "$1" ] || [ -f "$1" ] || fail "no such disk: $1"
}

# A directory of this run, gone at its end.
work_directory() {
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
}
