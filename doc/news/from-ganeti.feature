``cfgupgrade`` gives the master of a cluster of Ganeti's an authority and keys of its own, so that the daemons start there; ``gnt-node add
--readd`` then sets up the other nodes. What was there before lies beside it.
