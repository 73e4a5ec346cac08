"""A stretch of steps of one batch, whose lengths grow evenly: their ends in closed form.

While a batch does not change, each step attends to as many more tokens of context as it has decodes, and a prefill
chunk of unchanged size to as many more as it has tokens: so each step is longer than the one before by the same amount.
"""

from math import sqrt


class Stretch:
    """`steps` steps from `began` on; the first takes `seconds`, each further one `slope` more than the one before."""

    __slots__ = ("began", "seconds", "slope", "steps")

    def __init__(self, began: float, seconds: float, slope: float, steps: int) -> None:
        self.began = began
        self.seconds = seconds
        self.slope = slope
        self.steps = steps

    def length(self, steps: int) -> float:
        """Seconds that the first `steps` steps take."""
        return steps * self.seconds + self.slope * (steps * (steps - 1) // 2)

    def last(self) -> float:
        """Seconds that the last step takes, which is the longest."""
        return self.seconds + self.slope * (self.steps - 1)

    def end(self, steps: int) -> float:
        """When the first `steps` steps are over."""
        return self.began + (steps * self.seconds + self.slope * (steps * (steps - 1) // 2))

    def ended(self, now: float) -> int:
        """How many steps, of as many as there might be, are over at `now`."""
        steps = self._about(now)
        while steps and self.end(steps) > now:
            steps -= 1
        while self.end(steps + 1) <= now:
            steps += 1
        return steps

    def boundary(self, moment: float) -> int:
        """After how many steps, at least one, the first end of a step at `moment` or later comes."""
        steps = max(1, self._about(moment))
        while steps > 1 and self.end(steps - 1) >= moment:
            steps -= 1
        while self.end(steps) < moment:
            steps += 1
        return steps

    def _about(self, moment: float) -> int:
        """The root of length(steps) = moment - began, but for rounding."""
        elapsed = max(0.0, moment - self.began)
        linear = self.seconds - 0.5 * self.slope
        return int(2.0 * elapsed / (linear + sqrt(linear * linear + 2.0 * self.slope * elapsed)))
