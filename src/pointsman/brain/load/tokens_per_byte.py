"""How many tokens a byte of prompt is, per model, learned from what engines report as usage."""

from typing import Final

FIRST_BYTES_PER_TOKEN: Final = 4.0
"""English text under the usual vocabularies of 32k to 150k tokens; other scripts are learned within a few prompts."""

PRIOR_TOKENS: Final = 256.0
"""The weight of the first guess, in tokens seen."""

MEMORY_TOKENS: Final = 100_000.0
"""Older prompts fade once so many tokens have been seen."""

MOST_MODELS: Final = 1024


class TokensPerByte:
    """Converts prompt bytes to tokens; `observe` mutates. Beyond MOST_MODELS the model learned first is forgotten."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[float, float]] = {}

    def tokens(self, model: str, prompt_bytes: float) -> float:
        """Expected tokens of a prompt of `prompt_bytes`."""
        return prompt_bytes / self.bytes_per_token(model)

    def bytes_per_token(self, model: str) -> float:
        """Bytes over tokens, the first guess included."""
        seen = self._seen.get(model)
        return FIRST_BYTES_PER_TOKEN if seen is None else seen[0] / seen[1]

    def observe(self, model: str, prompt_bytes: float, tokens: float) -> None:
        """A prompt of `prompt_bytes` was counted as `tokens` by an engine. Ignores counts that are not positive."""
        if prompt_bytes <= 0.0 or tokens <= 0.0:
            return
        known = self._seen.get(model)
        if known is None:
            known = FIRST_BYTES_PER_TOKEN * PRIOR_TOKENS, PRIOR_TOKENS
            if len(self._seen) >= MOST_MODELS:
                del self._seen[next(iter(self._seen))]
        kept = min(1.0, MEMORY_TOKENS / (known[1] + tokens))
        self._seen[model] = (known[0] + prompt_bytes) * kept, (known[1] + tokens) * kept
