"""LUXI: framing, methods, clients and server protocol."""
