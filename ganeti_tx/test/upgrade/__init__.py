"""From one version to another."""
