"""`pointsman sim`: from settings to experiments, and what is told of them."""
