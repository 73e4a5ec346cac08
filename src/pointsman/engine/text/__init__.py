"""What the emulated engine says: its tokens, its chat template and its words. Pure."""
