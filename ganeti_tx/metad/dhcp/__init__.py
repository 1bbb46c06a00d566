"""Addresses of communication NICs, told by DHCP (RFC 2131): each guest gets its own, at its own interface."""
