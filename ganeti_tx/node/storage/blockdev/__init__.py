"""Block devices that are there already and that all nodes see: they are adopted, never made, changed or removed."""
