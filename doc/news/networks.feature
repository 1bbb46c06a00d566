Networks: gnt-network and its opcodes make, change, connect, disconnect, show and remove pools of IPv4 addresses from /30 to /16, with IPv6
range, gateway, MAC prefix, VLAN, tags and addresses that instances never get; hooks run around them, and the Remote API has them.
