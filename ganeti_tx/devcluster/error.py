"""What goes wrong with a devcluster."""


class DevclusterError(Exception):
    """One line for the user."""
