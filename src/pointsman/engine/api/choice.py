"""One answer being written: its words, where it ends and what of it may be sent."""

from xxhash import xxh3_64_intdigest

from pointsman.engine.sequence import Sequence
from pointsman.engine.text.tokens import to_ids
from pointsman.engine.text.words import END_TOKEN, Writer


class Ending:
    """When an answer ends other than by its length, and what a reader may see of it before that is known."""

    __slots__ = ("forced_tokens", "hold_back", "include_stop", "min_tokens", "never", "stops")

    def __init__(
        self, stops: list[str], include_stop: bool, min_tokens: int, ignore_eos: bool, forced_tokens: int | None
    ) -> None:
        self.stops = [stop.encode() for stop in stops]
        self.include_stop = include_stop
        self.min_tokens = min_tokens
        self.never = ignore_eos or forced_tokens is not None
        self.forced_tokens = forced_tokens
        # So many last bytes may be the beginning of a stop string.
        self.hold_back = max(map(len, self.stops), default=1) - 1


class Choice:
    """One of a request's answers. `finish_reason` is set by the token that ends it.

    Extends the hashes of its sequence as blocks fill up, so that a next turn finds the answer in the prefix cache.
    """

    __slots__ = (
        "_block_size",
        "_ending",
        "_ids",
        "_pending",
        "_tail",
        "_tail_tokens",
        "_writer",
        "finish_reason",
        "index",
        "last_token_at",
        "sent_tokens",
        "sequence",
        "stop_reason",
        "submitted_at",
        "texts",
    )

    def __init__(
        self,
        index: int,
        sequence: Sequence,
        writer: Writer,
        ending: Ending,
        tail: tuple[bytes, int],
        block_size: int,
        texts: dict[int, bytes] | None = None,
    ) -> None:
        """`tail` is what of the prompt stands behind its last full block: the bytes and how many tokens they are.

        `texts`: the bytes of its blocks by their hashes, to which those of the answer are added, where they are told.
        """
        self.index = index
        self.sequence = sequence
        self.finish_reason: str | None = None
        self.stop_reason: str | None = None
        self.sent_tokens = 0
        self.last_token_at = 0.0
        self.submitted_at = 0.0  # when the API server got the request, in engine seconds
        self.texts = texts
        self._writer = writer
        self._ending = ending
        self._pending = bytearray()
        self._ids = bytearray()
        self._tail, self._tail_tokens = tail
        self._block_size = block_size

    def write(self) -> None:
        """Write the token the sequence has just been given (`sequence.generated` counts it already)."""
        generated, ending = self.sequence.generated, self._ending
        token = self._writer.next(not ending.never and generated > ending.min_tokens)
        self._ids += token
        if token is END_TOKEN:
            self.finish_reason = "stop"
            return
        self._pending += token
        self._extend_hashes(token)
        if ending.stops and generated > ending.min_tokens:
            self._cut_at_stop()
        if self.finish_reason is None and generated >= self.sequence.max_tokens:
            self.finish_reason = "stop" if generated == ending.forced_tokens else "length"

    def take_text(self) -> str:
        """What may be sent now and was not sent before."""
        pending = self._pending
        cut = len(pending)
        if self.finish_reason is None and self._ending.hold_back:
            cut = max(0, cut - self._ending.hold_back)
            while cut and pending[cut] & 0xC0 == 0x80:  # not inside a character
                cut -= 1
        text = pending[:cut].decode()
        del pending[:cut]
        return text

    def take_ids(self) -> list[int]:
        """The token ids written since the last call."""
        ids = to_ids(bytes(self._ids))
        self._ids.clear()
        return ids

    def _extend_hashes(self, token: bytes) -> None:
        self._tail += token
        self._tail_tokens += 1
        if self._tail_tokens == self._block_size:
            hashes = self.sequence.hashes
            hashes.append(xxh3_64_intdigest(self._tail, hashes[-1] if hashes else 0))
            if self.texts is not None:
                self.texts[hashes[-1]] = bytes(self._tail)
            self._tail, self._tail_tokens = b"", 0

    def _cut_at_stop(self) -> None:
        """End the answer at the first stop string that is complete, wherever it began in what was not sent yet."""
        found = [(self._pending.find(stop), stop) for stop in self._ending.stops]
        found = [(at, stop) for at, stop in found if at >= 0]
        if not found:
            return
        at, stop = min(found)
        del self._pending[at + len(stop) if self._ending.include_stop else at :]
        self.finish_reason, self.stop_reason = "stop", stop.decode()
