"""Configuration and locks over a unix socket."""
