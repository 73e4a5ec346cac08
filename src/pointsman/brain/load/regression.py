"""Least squares of seconds on three features: recursive, relative, forgetting, never negative, biased to the slow side.

Strategy. Seconds ≈ θ·x with three rates θ ≥ 0. Each sample is divided by its prediction, so that errors count in per
cent and short prompts matter as much as long ones; each rate is counted in units of its `scale`, φ = θ/scale. The
normal equations A·φ = b fade by FORGET per sample, and what fades is refilled by the prior's share: a direction that
traffic does not excite returns to the prior instead of drifting (plain exponential forgetting blows up there).
Samples slower than predicted weigh SLOW times the others, which makes the fit an expectile above the mean (W. Newey,
J. Powell, Econometrica 1987): believing a node faster than it is costs more than the reverse. A is 3 x 3 and positive
definite, so a few projected Gauss–Seidel sweeps from the last φ keep it solved under φ ≥ 0; in plain floats that is
several times faster than NumPy.
"""

from typing import Final

Triple = tuple[float, float, float]

FORGET: Final = 0.98
"""Weight kept per sample: a memory of some 50 samples."""

PRIOR_WEIGHT: Final = 0.02
"""Samples the prior counts for: (noise of a sample, 30 %, over error of the prior, a factor of 2) squared."""

SLOW: Final = 2.0
"""Weight of a sample slower than predicted."""

SWEEPS: Final = 6
MOST_RATIO: Final = 16.0
"""A single sample counts as at most this many times slower or faster than predicted: hiccups are not rates."""

_LEAST_SECONDS: Final = 1e-9


class RelativeRegression:
    """Rates θ for `predict(x) = θ·x`. `scale` gives each rate's order of magnitude, all above 0."""

    __slots__ = ("_a", "_b", "_b0", "_phi", "_scale")

    def __init__(self, prior: Triple, scale: Triple) -> None:
        self._scale = scale
        self.rebase(prior)

    @property
    def rates(self) -> Triple:
        """θ, each >= 0."""
        p, q, r = self._phi
        s, t, u = self._scale
        return p * s, q * t, r * u

    def rebase(self, prior: Triple) -> None:
        """Forget all samples; start from `prior`."""
        self._phi: Triple = (prior[0] / self._scale[0], prior[1] / self._scale[1], prior[2] / self._scale[2])
        self._b0: Triple = (PRIOR_WEIGHT * self._phi[0], PRIOR_WEIGHT * self._phi[1], PRIOR_WEIGHT * self._phi[2])
        self._a = (PRIOR_WEIGHT, 0.0, 0.0, PRIOR_WEIGHT, 0.0, PRIOR_WEIGHT)
        self._b = self._b0

    def predict(self, x: Triple) -> float:
        """Seconds for the features `x` (>= 0)."""
        p, q, r = self._phi
        s, t, u = self._scale
        return p * s * x[0] + q * t * x[1] + r * u * x[2]

    def rescale(self, factor: float) -> None:
        """The node has become `factor` times slower as a whole: only the unit of its rates changes.

        So all samples so far, and the prior, count as if they had been that much slower as well.
        """
        self._scale = (self._scale[0] * factor, self._scale[1] * factor, self._scale[2] * factor)

    def ratio(self, x: Triple, seconds: float) -> float:
        """measured/predicted, within MOST_RATIO either way."""
        predicted = max(self.predict(x), _LEAST_SECONDS)
        return min(max(seconds / predicted, 1.0 / MOST_RATIO), MOST_RATIO)

    def observe(self, x: Triple, seconds: float) -> None:
        """Learn that the features `x` took `seconds`."""
        predicted = max(self.predict(x), _LEAST_SECONDS)
        ratio = min(seconds / predicted, MOST_RATIO)
        weight = SLOW if ratio > 1.0 else 1.0
        s = self._scale
        self._add(x[0] * s[0] / predicted, x[1] * s[1] / predicted, x[2] * s[2] / predicted, ratio, weight)
        self._solve()

    def _add(self, x: float, y: float, z: float, ratio: float, w: float) -> None:
        """One weighted, normalised sample into the fading normal equations (upper triangle of A)."""
        f, refill = FORGET, (1.0 - FORGET) * PRIOR_WEIGHT
        a, b, b0 = self._a, self._b, self._b0
        wx, wy, wz = w * x, w * y, w * z
        self._a = (
            f * a[0] + wx * x + refill, f * a[1] + wx * y, f * a[2] + wx * z,
            f * a[3] + wy * y + refill, f * a[4] + wy * z,
            f * a[5] + wz * z + refill,
        )  # fmt: skip
        g = 1.0 - f
        self._b = (
            f * b[0] + wx * ratio + g * b0[0],
            f * b[1] + wy * ratio + g * b0[1],
            f * b[2] + wz * ratio + g * b0[2],
        )

    def _solve(self) -> None:
        xx, xy, xz, yy, yz, zz = self._a
        bx, by, bz = self._b
        p, q, r = self._phi
        for _ in range(SWEEPS):
            p = max(0.0, (bx - xy * q - xz * r) / xx)
            q = max(0.0, (by - xy * p - yz * r) / yy)
            r = max(0.0, (bz - xz * p - yz * q) / zz)
        self._phi = (p, q, r)
