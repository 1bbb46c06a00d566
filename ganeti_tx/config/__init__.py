"""The cluster configuration: loading, checking, changing, saving."""
