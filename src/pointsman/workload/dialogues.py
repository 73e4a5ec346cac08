"""Which requests of a recording are turns of one dialogue: found by their prompts, which grow.

Turn n + 1 resends turn n and its answer. So a request follows another one if its prompt begins with the other's whole
chain and has room for the answer, and if it came after that answer from the same tenant and session. A prompt so short
that its chain is a shared system prompt begins many others; so it is followed only if it was the first with its chain.
One request has one follower: the earliest.
"""

from collections.abc import Sequence

import msgspec

from .recording_line import Recorded

Key = tuple[str, str, int | str | None, int]


class Turn(msgspec.Struct, frozen=True):
    """Where a request stands. `before`, `after`: numbers of the turns beside it, None where there is none."""

    dialogue: int
    turn: int
    before: int | None
    after: int | None


def turns_of(lines: Sequence[Recorded]) -> list[Turn]:
    """For each request, in order of arrival, its place in its dialogue; one that stands alone has one of its own."""
    after: list[int | None] = [None] * len(lines)
    before: list[int | None] = [None] * len(lines)
    first_with: dict[Key, int] = {}
    for number, line in enumerate(lines):
        found = _followed(line, lines, first_with, after)
        if found is not None:
            before[number], after[found] = found, number
        if line.hash_ids:
            first_with.setdefault(_key(line, line.hash_ids[-1]), number)
    return _numbered(before, after)


def _followed(
    line: Recorded, lines: Sequence[Recorded], first_with: dict[Key, int], after: Sequence[int | None]
) -> int | None:
    """The longest earlier request that `line` continues."""
    for link in reversed(line.hash_ids):
        number = first_with.get(_key(line, link))
        if number is not None and after[number] is None and _continues(line, lines[number]):
            return number
    return None


def _continues(line: Recorded, earlier: Recorded) -> bool:
    answered = earlier.timestamp + (earlier.total_ms or 0.0) <= line.timestamp
    return answered and line.input_length >= earlier.input_length + earlier.output_length


def _key(line: Recorded, link: int) -> Key:
    return line.model, line.tenant, line.session_id, link


def _numbered(before: Sequence[int | None], after: Sequence[int | None]) -> list[Turn]:
    turns: list[Turn] = []
    dialogues = 0
    for earlier, later in zip(before, after, strict=True):
        if earlier is None:
            turns.append(Turn(dialogues, 0, None, later))
            dialogues += 1
        else:
            turns.append(Turn(turns[earlier].dialogue, turns[earlier].turn + 1, earlier, later))
    return turns
