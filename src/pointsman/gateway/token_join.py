"""The tokens of prompts, as nodes that report their caches know them: told by clients, or by the nodes that answered.

Where a prompt came as text and not much of it is known, its node is asked for the token ids; they are taken out of the
answer again (`ids_answer.py`) and remembered beside the prompt's bytes (`brain/cache/joined.py`).
"""

import re
import struct
from collections.abc import Callable, Container, Sequence
from typing import Final

import msgspec

from pointsman.brain.cache.joined import Joined
from pointsman.brain.cache.reported import Naming
from pointsman.brain.model.request import Chain, Request
from pointsman.wire.decoding import decoder
from pointsman.wire.kv_events import text_extra
from pointsman.wire.openai.members import with_member
from pointsman.wire.openai.shapes import ABSENT, Prompt

ASKED_SHARE: Final = 0.1
"""Token ids are asked for when more than this share of a prompt's links is not known by its tokens."""
ASKED_LINKS: Final = 2
"""And it has at least so many links of bytes: less than a block or two of an engine is not worth it."""

_PART = re.compile(rb'"type"\s*:\s*"([^"]*)"')
_OWN: Final = b"return_token_ids"
_decode_ids = decoder(list[int])
_decode_text = decoder(str)


class Telling(msgspec.Struct, frozen=True, gc=False):
    """Whose token ids an answer is to tell: a prompt by its links, and what separates its cache."""

    join: "TokenJoin"
    chain: Chain
    size: int
    adapter: str
    extra: bytes

    def told(self, ids: bytes) -> None:
        """The answer told the prompt's token ids, as a JSON array; what cannot be one is passed over."""
        self.join.learn(self, ids)


class TokenJoin:
    """What is known of prompts' tokens. `adapters` are the models that are LoRA adapters.

    `reporting()` is the share of nodes that report their caches: without any, nobody need ask here.
    """

    def __init__(self, naming: Naming, adapters: Container[str], reporting: Callable[[], float]) -> None:
        self.reporting = reporting
        self._naming = naming
        self._adapters = adapters
        self._joined = Joined()

    def of_ids(self, ids: Sequence[int], model: str, salt: bytes) -> Chain | None:
        """The chain of a prompt that came as token ids; `salt` is JSON."""
        return self._chain(self._naming.chain(ids, self._adapter(model), _extra(salt)))

    def of_text(self, chain: Chain, size: int) -> Chain | None:
        """The chain of a prompt of `size` bytes that came as text, as far as it is known."""
        links = self._joined.known(chain.links, chain.bytes_per_link, size)
        return None if links is None else self._chain(links)

    def telling(self, request: Request, prompt: Prompt, salt: bytes, data: bytes) -> Telling | None:
        """What the answer to `data` is to tell; None where it is known well enough, or no text alone."""
        chain = request.chain
        if chain is None or prompt.token_ids is not None:
            return None
        links = len(chain.links)
        if links < ASKED_LINKS or links - self._joined.depth(chain.links) <= ASKED_SHARE * links or _OWN in data:
            return None
        if any(kind not in (b"text", b"function") for kind in _PART.findall(data)):
            return None
        return Telling(self, chain, prompt.size, self._adapter(request.model), _extra(salt))

    def learn(self, telling: Telling, ids: bytes) -> None:
        """Remember the token ids of a prompt."""
        try:
            tokens = _decode_ids(ids)
            links = self._naming.chain(tokens, telling.adapter, telling.extra)
        except (msgspec.DecodeError, struct.error):
            return
        self._joined.learn(telling.chain.links, telling.size, links, len(tokens))

    def _adapter(self, model: str) -> str:
        return model if model in self._adapters else ""

    def _chain(self, links: Sequence[int]) -> Chain | None:
        return Chain("reported", links, float(self._naming.chunk_tokens)) if len(links) else None


def asking_for_ids(data: bytes) -> bytes:
    """`data` asking for token ids as well."""
    return with_member(data, _OWN.decode(), b"true")


def _extra(salt: bytes) -> bytes:
    return text_extra(_decode_text(salt)) if salt.startswith(b'"') else b""


class _Choice(msgspec.Struct, gc=False):
    prompt_token_ids: msgspec.Raw = ABSENT


class _Told(msgspec.Struct, gc=False):
    prompt_token_ids: msgspec.Raw = ABSENT
    choices: list[_Choice] = []


_decode_told = decoder(_Told)


def prompt_ids(body: bytes) -> bytes:
    """The prompt's token ids in an answer or an event of one, as JSON; empty if it tells none."""
    try:
        told = _decode_told(body)
    except msgspec.DecodeError:
        return b""
    for ids in (told.prompt_token_ids, *[choice.prompt_token_ids for choice in told.choices]):
        if bytes(ids).startswith(b"["):
            return bytes(ids)
    return b""
