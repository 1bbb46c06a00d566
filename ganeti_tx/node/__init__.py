"""The node daemon: what a node does when it is asked to."""
