"""The parts of `scripts/bench relay`: what is compared, what stands behind it, what asks, and how it is counted."""
