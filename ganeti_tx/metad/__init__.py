"""The metadata daemon: tells each instance of a node, over HTTP, of itself."""
