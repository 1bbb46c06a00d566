"""From one version to another, and back."""
