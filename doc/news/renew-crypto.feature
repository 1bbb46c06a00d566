``gnt-cluster renew-crypto`` replaces the authority with all that it signed (``--new-cluster-certificate``), nodes' certificates, confd's key, root's SSH keys,
the Remote API's and SPICE's certificates and the secret for moves between clusters, by new ones or by given ones, while daemons and jobs go
on. When it was interrupted the same command ends it.
