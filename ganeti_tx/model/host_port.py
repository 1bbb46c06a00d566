"""Host and port in one word. An IPv6 address has colons of its own, so it is put in brackets."""


def bracketed(host: str) -> str:
    """A host's name or address as it stands before a port, or in a URL."""
    return f"[{host}]" if ":" in host else host


def host_port(host: str, port: int | str) -> str:
    """As in `node1.example.com:1811`, `192.0.2.11:1811` and `[2001:db8::11]:1811`."""
    return f"{bracketed(host)}:{port}"
