"""The daemon that is the one writer of the configuration and keeper of the locks."""
