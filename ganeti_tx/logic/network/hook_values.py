"""What hooks are told of a network (Ganeti 3.0 hook table, shared_env)."""

from ganeti_tx.model.network import Network


def network_values(network: Network) -> dict[str, object]:
    """Every variable of a network, without prefix; what it does not have is left out."""
    known = {
        "NETWORK_SUBNET": network.network,
        "NETWORK_GATEWAY": network.gateway,
        "NETWORK_SUBNET6": network.network6,
        "NETWORK_GATEWAY6": network.gateway6,
        "NETWORK_MAC_PREFIX": network.mac_prefix,
    }
    return {
        "NETWORK_NAME": network.name,
        "NETWORK_UUID": network.uuid,
        "NETWORK_TAGS": " ".join(network.tags),
        **{name: value for name, value in known.items() if value},
    }
