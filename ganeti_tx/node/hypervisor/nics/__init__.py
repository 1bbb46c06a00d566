"""How the interfaces of guests are connected to a node, whatever the hypervisor."""
