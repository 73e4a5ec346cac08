"""What the clients of a run will ask: every text made beforehand, so that replaying costs next to nothing."""

import msgspec
import numpy as np


class Line(msgspec.Struct, frozen=True):
    """One question of a dialogue: its text, the length of its answer, the pause before it is asked."""

    text: str
    output_tokens: int
    think_s: float = 0.0


class Dialogue(msgspec.Struct, frozen=True):
    """Questions asked one after the other, each with all that was said before. `system` may be ""."""

    start_s: float
    system: str
    lines: tuple[Line, ...]


class Demand(msgspec.Struct, frozen=True):
    """The dialogues of a run in order of their beginning, and what to tell people about them."""

    dialogues: tuple[Dialogue, ...]
    description: str
    notes: tuple[str, ...] = ()

    def long_answer_tokens(self) -> float:
        """Only one answer in a hundred is longer."""
        return float(np.quantile([line.output_tokens for one in self.dialogues for line in one.lines] or [0], 0.99))
