"""What an engine that obeys can be told to do with its KV cache.

Blocks are known by the links of the prompt's chain that they hold (`brain.cache.chain`): whoever orders need not know
tokens, nor whoever obeys how a chain is made. An engine learns the links of a prompt with the prompt.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from pointsman.brain.model.node import MOST

Count = Annotated[int, Meta(ge=0, le=MOST)]


class Evict(msgspec.Struct, frozen=True, gc=False, tag="evict", tag_field="order"):
    """Forget the blocks of these links, in this order, and whatever follows them. What is in use or pinned stays."""

    links: tuple[int, ...]


class Pin(msgspec.Struct, frozen=True, gc=False, tag="pin", tag_field="order"):
    """Keep the blocks of these links, a whole beginning of a prompt, until they are unpinned."""

    links: tuple[int, ...]


class Unpin(msgspec.Struct, frozen=True, gc=False, tag="unpin", tag_field="order"):
    """They may be evicted again; all that is pinned, where none are named."""

    links: tuple[int, ...]


class SwapOut(msgspec.Struct, frozen=True, gc=False, tag="swap_out", tag_field="order"):
    """Copy the blocks of a request that runs, known by its id, to other memory.

    Who asks for what they hold later, this request or another, gets them back from there.
    """

    request: str


Command = Evict | Pin | Unpin | SwapOut


class Carried(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What came of a command: `blocks` evicted, pinned, unpinned or copied; links or requests that are `unknown`.

    `in_use`: blocks that were to be evicted, or unpinned, and are needed.
    """

    blocks: Count = 0
    in_use: Count = 0
    unknown: Count = 0


class Obeyed(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What became of an instruction, by its number: what came of each command, and links lost unasked since the last.

    `ok` is false if it was not carried out, or nobody knows, for `reason`.
    """

    number: int
    ok: bool
    reason: str = ""
    done: tuple[Carried, ...] = ()
    lost: tuple[int, ...] = ()
