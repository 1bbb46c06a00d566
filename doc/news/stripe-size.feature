The disk parameter ``stripe-size`` of the template plain (``-D plain:stripes=2,stripe-size=64``): how many KiB of a striped volume lie on one
physical volume before the next one's turn; it is told only where it is set.
