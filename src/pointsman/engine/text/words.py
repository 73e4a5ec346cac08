"""What an emulated model writes: the next word is a function of everything before it, and of nothing else.

A running 64-bit digest over the prompt's bytes and the words already written picks the next word. So an answer cut
anywhere and continued, from its text or from its token ids, on this engine or another, goes on as if it had not been
cut. Every word is one token and begins with a space.
"""

from xxhash import xxh3_64

from pointsman.engine.text.tokens import END

_VOCABULARY = (
    "the of and to a in is it that was for on are as with his they at be this from have or by one had not but "
    "what all were when we can said use each she do how if will up out many then them some so her like him "
    "into time has look two more go see no way my than been call who oil its now find long down day did get "
    "come made may part over new take only work know year live me back give most very good our just name man "
    "say help line turn much mean old any same tell boy came want show form well also play end put home read "
    "hand port even land here must big high such act why ask men went kind need try us own rail node gate sign "
    "yard loop main fork lane 길 역 차 한 글 線 駅 🚂 🚉 ✓"
)
WORDS = tuple(b" " + word.encode() for word in _VOCABULARY.split())
END_TOKEN = bytes((END,))
_COUNT = len(WORDS)


class Writer:
    """Writes one answer. `choice` > 0 gives the other answers of a request that wants several.

    On average every `mean_tokens`-th token ends the answer, decided by the same digest.
    """

    __slots__ = ("_digest", "_mean")

    def __init__(self, prompt: bytes, mean_tokens: int, choice: int = 0) -> None:
        self._digest = xxh3_64(prompt, seed=choice)
        self._mean = mean_tokens

    def next(self, may_end: bool) -> bytes:
        """The next token's bytes; `END_TOKEN` ends the answer and is only returned if it `may_end`."""
        state = self._digest.intdigest()
        if may_end and (state >> 32) % self._mean == 0:
            return END_TOKEN
        word = WORDS[state % _COUNT]
        self._digest.update(word)
        return word
