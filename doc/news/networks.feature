Networks: gnt-network and its opcodes make, change, rename, connect, disconnect, show and remove pools of IPv4 addresses from /30 to /16, with
IPv6 range, gateway, MAC prefix, VLAN, tags and addresses that instances never get; hooks run around them, and the Remote API has them.
New instances take addresses of networks, from the pool or given, and give them back when they go: --net 0:network=lan,ip=pool.
gnt-instance info shows an interface's network by its name; no two interfaces of one instance can be given the same address of a network.
Scripts that connect the interfaces of KVM guests are told of the network. A vlan that none can be is refused when it is set.
