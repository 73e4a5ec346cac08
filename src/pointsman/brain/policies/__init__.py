"""Layer 3: one file a policy."""
