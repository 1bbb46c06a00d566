"""The commands for ports of Open vSwitch."""

from collections.abc import Sequence

from ganeti_tx.model.vlan import Vlan

#: Seconds that Open vSwitch may take for a change; without its daemon it would wait for ever.
LIMIT = 20


def ovs_argv(*words: str) -> list[str]:
    """A command of it."""
    return ["ovs-vsctl", f"--timeout={LIMIT}", *words]


def plug_argv(switch: str, interface: str, vlan: Vlan) -> list[str]:
    """Have the interface there and nowhere else, in its VLANs; all at once.

    The database outlives the machine, the interface does not: as transient it is left out when Open vSwitch is started anew.
    """
    add = ["add-port", switch, interface, *vlan_settings(vlan), "other_config:transient=true"]
    return ovs_argv("--if-exists", "del-port", interface, "--", *add)


def vlan_settings(vlan: Vlan) -> Sequence[str]:
    """How a port has them: untagged ones as `tag`, tagged ones as `trunks`."""
    tag = [] if vlan.untagged is None else [f"tag={vlan.untagged}"]
    if not vlan.tagged:
        return tag
    mode = "trunk" if vlan.untagged is None else "native-untagged"
    return [*tag, "trunks=" + ",".join(map(str, vlan.tagged)), f"vlan_mode={mode}"]


def unplug_argv(interface: str) -> list[str]:
    """Have it nowhere; not to have it is fine."""
    return ovs_argv("--if-exists", "del-port", interface)
