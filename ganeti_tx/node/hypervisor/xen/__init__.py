"""Xen, through its program xl: what paravirtualised and fully virtualised instances have in common, and what each has alone."""
