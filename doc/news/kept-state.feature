``gnt-instance failover`` and ``move`` bring the UEFI variables and the TPM state of a KVM instance to its new node, or say that they are lost.
