Routed interfaces of instances are answered for where the node's neighbours look for them (proxy ARP, proxy NDP), and what comes from them is looked up in
the routing table that their link names; Open vSwitch has its ports as transient ones, and removes a stale one first. Bridges that do not keep VLANs apart,
missing switches and unknown routing tables are told, with what to do, before an instance is made. No rule, port or answer outlives an interface. The
interface for instance communication is called gnt.com.N on the node, which has 169.254.169.254 there and passes nothing on from it. Scripts are
kvm-vif-bridge or kvm-ifup-custom, kvm-ifdown-custom and kvm-ifup-os, and the same with lxc; they get the interface's name as an argument, too.
