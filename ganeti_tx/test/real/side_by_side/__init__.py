"""Ganeti's own commands and ours on one cluster, command line by command line."""
