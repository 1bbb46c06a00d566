"""What changes in the cluster, kept for a while for those who follow it."""
