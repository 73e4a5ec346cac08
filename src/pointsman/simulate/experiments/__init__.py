"""`pointsman sim experiment`: questions with an expected answer, each a grid of simulated runs and claims about it."""
