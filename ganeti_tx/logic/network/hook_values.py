"""What hooks are told of a network (Ganeti 3.0 hook table, shared_env)."""

from ganeti_tx.model.network import VARIABLES, Network


def network_values(network: Network) -> dict[str, object]:
    """Every variable of an interface's network, without prefix; what it does not have is left out."""
    return {
        "NETWORK_NAME": network.name,
        "NETWORK_UUID": network.uuid,
        "NETWORK_TAGS": " ".join(network.tags),
        **settings(network),
    }


def own_values(network: Network) -> dict[str, object]:
    """Those of the network that an opcode is about: tags only where it has some, and its uuid stays inside."""
    tags = {"NETWORK_TAGS": " ".join(network.tags)} if network.tags else {}
    return {"NETWORK_NAME": network.name, **settings(network), **tags}


def settings(network: Network) -> dict[str, object]:
    """What is set of it."""
    known = {f"NETWORK_{key}": getattr(network, name) for key, name in VARIABLES.items()}
    return {name: value for name, value in known.items() if value}
