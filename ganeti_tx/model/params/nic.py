"""NIC parameters: how a network card is tied to its node."""

from ganeti_tx.errors import ParameterError
from ganeti_tx.model.base import Params, Wire
from ganeti_tx.model.enums import NicMode
from ganeti_tx.model.nic import Nic
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.params.defaults import GuestDefaults
from ganeti_tx.model.params.kinds import check, fill, typed
from ganeti_tx.model.vlan import parse_vlan

#: What design-2.1 calls modes.
OLD_MODES = {"bridge": NicMode.BRIDGED, "route": NicMode.ROUTED}
#: Modes that need a bridge or switch to plug into.
LINKED = frozenset({NicMode.BRIDGED, NicMode.OPENVSWITCH})


class NicParams(Wire, frozen=True, kw_only=True, omit_defaults=False):
    """The mode (see `NicMode`), the bridge or routing table, the VLAN."""

    link: str = "xen-br0"
    mode: str = "bridged"
    vlan: str = ""


def fill_nicparams(cluster: GuestDefaults, own: Params | None = None) -> Params:
    """All parameters: built-in, then the cluster's, then the card's own."""
    return fill(NicParams, cluster.nicparams.get("default", {}), own or {})


def connection(nic: Nic, group: NodeGroup | None) -> Params:
    """How a node group is connected to a card's network; that counts above the card's own, which may be of another group."""
    return group.networks.get(nic.network, {}) if group is not None and nic.network is not None else {}


def typed_nicparams(params: Params) -> NicParams:
    """Filled parameters as a struct. @raise ParameterError: they do not fit, or contradict each other."""
    nic = typed(NicParams, params, "nicparams")
    if nic.mode not in tuple(NicMode):
        raise ParameterError(f"nicparams.mode: invalid value {nic.mode!r}, allowed are {', '.join(NicMode)}")
    if nic.mode in LINKED and not nic.link:
        raise ParameterError(f"nicparams.link: a {nic.mode} NIC needs a link")
    try:
        parse_vlan(nic.vlan)
    except ParameterError as error:
        raise ParameterError(f"nicparams.vlan: {error}") from None
    return nic


def check_nicparams(given: Params) -> dict[str, object]:
    """Given parameters in their types, modes in today's words.

    @raise ParameterError: unknown. @raise TypeEnforcementError: of another type.
    """
    checked = check(NicParams, given, "nicparams")
    return {**checked, "mode": mode_of(str(checked["mode"]))} if "mode" in checked else checked


def mode_of(word: str) -> str:
    """Today's word for a mode."""
    return OLD_MODES[word].value if word in OLD_MODES else word
