``gnt-instance info`` tells the addresses that a running KVM guest with ``use_guest_agent`` says it has.
