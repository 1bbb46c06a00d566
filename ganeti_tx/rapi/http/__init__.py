"""HTTP itself: what every request and answer needs, whatever is asked."""
