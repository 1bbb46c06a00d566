"""Who may do what on the Remote API."""
