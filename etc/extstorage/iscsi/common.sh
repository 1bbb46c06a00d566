# What the scripts of this provider share (README.md). Read with "."; "target", "lun" and "portal" say where the volume is.
set -eu
export LC_ALL=C
umask 077
trap 'exit 1' HUP INT TERM # what is to be undone at the end is undone when the time is over, too

fail() {
  echo "$*" >&2
  exit 1
}

# Words that reach other programs, and perhaps a shell on another machine, have no other characters; others are not shown.
check() {
  case ${2:-} in
  '') fail "the parameter $1 is missing" ;;
  -* | *[!][A-Za-z0-9._:/+-]*) fail "the parameter $1 may have letters, digits and ._:/+-[] only, and no - in front" ;;
  esac
}

# The administrator says on each node which directories, machines and targets may be used (README.md): whoever has a disk made
# says only which of these.
here=$(dirname "$0")
listed() { # PARAMETER VALUE FILE LINE..., of which one is enough
  parameter=$1 value=$2 list=$here/$3
  shift 3
  [ -f "$list" ] || fail "the parameter $parameter is not allowed to be '$value': there is no file $list on this node"
  printf '%s\n' "$@" | grep -qxF -f - "$list" || fail "the parameter $parameter is not allowed to be '$value': $list does not list it"
}

allowed_directory() {
  check "$1" "$2"
  case $2/ in
  *//* | */./* | */../* | [!/]*) fail "the parameter $1 is an absolute path without '.' and '..', not '$2'" ;;
  esac
  listed "$1" "$2" directories "$1 $2"
}

allowed_host() {
  check host "$1"
  listed host "$1" hosts "$1"
}

# Whom a new target is for. tgt knows a word for everybody, too, and a network of length 0 is everybody.
check_initiators() {
  old=$IFS IFS=+
  for each in $initiators; do
    case $each in
    *[!][0-9A-Fa-f.:/]*) refuse_initiator "$each" ;;
    */*) case ${each##*/} in '' | *[!0-9]* | 0*) refuse_initiator "$each" ;; esac ;;
    *.* | *:*) ;;
    *) refuse_initiator "$each" ;;
    esac
    [ ! -f "$here/initiators" ] || listed initiators "$each" initiators "$each"
  done
  IFS=$old
}

refuse_initiator() {
  fail "the parameter initiators is not allowed to have '$1': only addresses, and networks with a length from 1 on"
}

need() {
  for program in "$@"; do
    command -v "$program" > /dev/null || fail "the program $program is not on this node; install ${package:?}"
  done
}

volume=${VOL_NAME:-}
check volume "$volume"
case $volume in */*) fail "the volume's name is not allowed to be '$volume'" ;; esac
portal=${EXTP_PORTAL:-} own=iqn.2008-11.org.ganeti:
check portal "$portal"
case $portal in
*]:* | [!\[]*:[0-9]*) ;;
*) portal=$portal:3260 ;;
esac
if [ -n "${EXTP_LUN:-}" ]; then
  target=${EXTP_TARGET:-} lun=$EXTP_LUN
  case $lun in *[!0-9]* | 0?*) fail "the parameter lun is a number" ;; esac
else
  target=$own$volume lun=1
  [ -z "${EXTP_TARGET:-}" ] || fail "the parameters target and lun go together"
fi
check target "$target"
uri=iscsi://$portal/$target/$lun
kernel=${EXTP_KERNEL:-yes}
case $kernel in yes | no) ;; *) fail "the parameter kernel is yes or no" ;; esac

# Whether this provider makes the volume itself, on the machine that has the targets.
made_here() { [ -z "${EXTP_LUN:-}" ]; }

# Before anything is asked of a portal: the kernel's initiator would show the node's CHAP to any, and a target that is there has
# somebody's data. Those that the provider made are their volumes' alone.
check_target() {
  if made_here; then
    listed portal "$EXTP_PORTAL" portals "$EXTP_PORTAL"
    return
  fi
  case $target in "$own"*) fail "the parameter target is not allowed to be '$target': it is the disk of one volume" ;; esac
  line="$EXTP_PORTAL $target"
  listed target "$target" targets "$line" "$line $lun" "$line $lun $volume"
}

prepare_target() {
  host=${EXTP_HOST:-} pool=${EXTP_POOL:-} initiators=${EXTP_INITIATORS:-} control=${EXTP_CONTROL:-0}
  check initiators "$initiators"
  check control "$control"
  [ -z "$host" ] || allowed_host "$host"
  allowed_directory pool "$pool"
  conf=${EXTP_CONF:-/etc/tgt/conf.d}
  [ -z "${EXTP_CONF:-}" ] || allowed_directory conf "$conf"
  file=$pool/$volume kept=$conf/ganeti-$volume.conf
}

# Where a link leads is for whoever can write there to say.
refuse_links() {
  for each in "$pool" "$conf"; do
    found=$(there readlink -e "$each") || fail "cannot find the directory $each${host:+ on $host}"
    [ "$found" = "$each" ] || fail "$each leads elsewhere by a symbolic link"
  done
}

# On the machine that has the targets: this one, or another one by ssh.
there() {
  if [ -z "$host" ]; then
    "$@"
  else
    ssh -o BatchMode=yes -o ConnectTimeout=30 "root@$host" -- "$@"
  fi
}

tgt() { there tgtadm -C "$control" --lld iscsi "$@"; }

# The number of the target, if it is there.
number() {
  shown=$(tgt --op show --mode target)
  echo "$shown" | while read -r word number name; do
    [ "$word" != Target ] || [ "$name" != "$target" ] || echo "${number%:}"
  done
}

free_number() {
  shown=$(tgt --op show --mode target)
  echo "$shown" | {
    highest=0
    while read -r word number _; do
      [ "$word" != Target ] || [ "${number%:}" -le "$highest" ] || highest=${number%:}
    done
    echo $((highest + 1))
  }
}

offer() {
  tgt --op new --mode logicalunit --tid "$1" --lun 1 --backing-store "$file"
}

# What tgt reads when it is started again.
keep() {
  {
    printf '<target %s>\n  backing-store %s\n' "$target" "$file"
    old=$IFS IFS=+
    for each in $initiators; do printf '  initiator-address %s\n' "$each"; done
    IFS=$old
    echo '</target>'
  } | there tee "$kept" > /dev/null
}

device=${BY_PATH:-/dev/disk/by-path}/ip-$portal-iscsi-$target-lun-$lun

session() { iscsiadm --mode node --targetname "$target" --portal "$portal" "$@"; }

# The kernel has the device, as large as it is now.
log_in() {
  package=open-iscsi
  need iscsiadm
  came=
  if session --rescan > /dev/null 2>&1; then
    :
  else
    ! made_here || came=yes
    session --op new > /dev/null
    # Another LUN of the target may have been attached meanwhile, so that there is a session.
    session --login > /dev/null || session --rescan > /dev/null || give_up "cannot log in to $target at $portal"
  fi
  waited=0
  until [ -b "$device" ]; do
    [ "$waited" -lt "${DEVICE_LIMIT:-30}" ] || give_up "$device does not appear"
    sleep 1
    waited=$((waited + 1))
  done
}

# Who is told that a disk is not attached detaches nothing. A session that was there may be in use, and so may that of a target with more LUNs.
give_up() {
  [ -z "$came" ] || log_out || echo "this node may still know $target" >&2
  fail "$@"
}

# Whether a mapping, a mount or a process has the device, or a part of it.
in_use() {
  numbers=$(lsblk --noheadings --list --output MAJ:MIN "$device") || fail "cannot tell what has $device open"
  opened=$(find -L /proc/[0-9]*/fd -maxdepth 1 -type b -exec stat -L -c %Hr:%Lr {} + 2> /dev/null || :)
  for number in $numbers; do
    [ -z "$(ls "/sys/dev/block/$number/holders")" ] || return 0
    ! grep -qs " $number " /proc/[0-9]*/mountinfo || return 0
    ! echo "$opened" | grep -qx "$number" || return 0
  done
  return 1
}

# Logging out takes the device from whoever has it. udev has it for a moment when somebody else has closed it.
refuse_use() {
  tried=0
  while in_use; do
    [ "$tried" -lt "${USE_LIMIT:-5}" ] || fail "something on this node has $device open; shut its instance down first"
    sleep 1
    tried=$((tried + 1))
  done
}

# The node forgets the target, if it knows it.
log_out() {
  session > /dev/null 2>&1 || return 0
  session --logout > /dev/null || [ ! -b "$device" ]
  session --op delete > /dev/null
}
