"""How an engine's prefix cache changes, as the engine tells it, and what that means in our own hashes.

Engines name blocks by hashes of their own, which mean nothing elsewhere: another version, or another process of the
same one, hashes the same tokens otherwise.
"""

from collections.abc import Sequence

import msgspec

Name = int | bytes
"""An engine's own hash of a block and all before it."""


class Stored(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Blocks of one chain entered the cache behind `parent`, or as its beginning (None).

    `token_ids` are those of all blocks, `block_tokens` each; none where names are our own links already. `adapter`
    names the LoRA adapter, "" for the base model. `extra` is what else separates each block's cache from others (salt,
    images), b"" for nothing; empty if that holds for all. `medium` and `group` say which copy of the block it is.
    """

    names: Sequence[Name]
    parent: Name | None = None
    token_ids: Sequence[int] = ()
    block_tokens: int = 0
    adapter: str = ""
    extra: Sequence[bytes] = ()
    medium: str = ""
    group: int = 0


class Removed(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A copy of each of these blocks is gone; others may remain."""

    names: Sequence[Name]
    medium: str = ""
    group: int = 0


class Cleared(msgspec.Struct, frozen=True, gc=False):
    """The cache was emptied."""


KvEvent = Stored | Removed | Cleared


class KvBatch(msgspec.Struct, frozen=True, gc=False):
    """What one publisher tells at once, in order. `sequence` counts its batches from 0."""

    sequence: int
    events: Sequence[KvEvent]


class CacheChange(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """How what `node` is known to hold changed: first all is forgotten if `cleared`, then links came, then went.

    A link is `link_tokens` tokens; one that came twice is held until it went twice. `whole`: what was told since the
    start is all that the node holds; else it may hold more, that was there before. `batches` were heard for this;
    there were `gaps` between them, and `lost` of what was missing is missing for good.
    """

    node: str
    came: Sequence[int] = ()
    went: Sequence[int] = ()
    cleared: bool = False
    whole: bool = False
    link_tokens: int = 16
    batches: int = 0
    gaps: int = 0
    lost: int = 0
