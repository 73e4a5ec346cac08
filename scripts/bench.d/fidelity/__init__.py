"""The parts of `scripts/bench faithful`: real routers over emulated engines, and our rules on what they saw."""
