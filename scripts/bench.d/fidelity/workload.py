"""What is asked of a router: dialogues that grow, documents that many ask about, and prompts of their own kind."""

from dataclasses import dataclass

import numpy as np

DOCUMENTS = 6
LONG_SHARE = 0.06
"""Of answers that take seconds: they put the fleet out of balance."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request, to be sent `gap_s` after the one before."""

    prompt: str
    session: str
    max_tokens: int
    gap_s: float


def asks(count: int, seed: int) -> list[Ask]:
    """The same for the same seed. Four in ten continue a dialogue, three ask about a document, three are new."""
    random = np.random.default_rng(seed)
    documents = [_words(random, 150 + 100 * number) for number in range(DOCUMENTS)]
    dialogues: list[str] = []
    made = []
    for _ in range(count):
        kind = random.random()
        if kind < 0.4 and dialogues:
            turn = int(random.integers(len(dialogues)))
            dialogues[turn] += _words(random, int(random.integers(20, 120)))
        else:
            begin = documents[int(random.integers(DOCUMENTS))] if kind < 0.7 else ""
            dialogues.append(begin + _words(random, int(random.integers(20, 300))))
            turn = len(dialogues) - 1
        made.append(Ask(dialogues[turn], f"s{turn}", _answer(random), float(random.uniform(0.02, 0.05))))
    return made


def _answer(random: np.random.Generator) -> int:
    return int(random.integers(100, 180)) if random.random() < LONG_SHARE else int(random.integers(4, 50))


def _words(random: np.random.Generator, count: int) -> str:
    """Words that hardly ever agree by chance, some six characters each."""
    return "".join(f"{word:05x} " for word in random.integers(0, 1 << 20, count))
