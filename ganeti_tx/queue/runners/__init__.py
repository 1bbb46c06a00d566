"""Jobs' processes, as the queue sees them."""
