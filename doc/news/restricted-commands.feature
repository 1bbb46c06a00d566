Restricted commands: ``gnt-node restricted-command NAME NODE...`` runs a program that the administrator has laid out in ``/etc/ganeti/restricted-commands`` of
each node, without SSH and without arguments. A node that has no such directory runs none.
