"""sanitize-config: a configuration that may be shown to others."""
