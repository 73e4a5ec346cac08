"""Layer 0: the frozen values that travel between the brain, its drivers and its observers."""
