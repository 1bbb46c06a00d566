"""The connection of interfaces."""
