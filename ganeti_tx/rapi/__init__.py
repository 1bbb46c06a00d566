"""The Remote API: HTTPS in front, LUXI behind."""
