``gnt-cluster verify`` warns of nodes that keep firmware variables or a TPM of instances that are unknown or elsewhere.
