"""Commands about exports of instances."""
