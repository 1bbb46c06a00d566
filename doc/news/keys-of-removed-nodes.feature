``gnt-node remove`` says which keys of the cluster stay good that somebody may have from the removed node's disk, and with which options ``gnt-cluster renew-crypto`` replaces them.
