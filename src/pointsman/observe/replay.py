"""Making recorded decisions again: a whole journal, or one decision from what its policy saw.

A process that was killed may have left half a line as the last of its run. Nothing follows from it, so it is passed
over, and told; half a line anywhere else is an error.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.orders import Order
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.policies.table import PolicyTable
from pointsman.observe.calls import Begin, Call, Entry, SetPolicy, Started
from pointsman.observe.record import started

Make = Callable[[BrainSettings, PolicyTable, float], Dispatcher]
"""Makes a fresh dispatcher at the given time (seconds)."""


def _unobserved(settings: BrainSettings, policies: PolicyTable, now: float) -> Dispatcher:
    return Dispatcher(settings, policies, (), now)


def _quiet(_line: int) -> None:
    """Tells nobody of a half line."""


class JournalError(Exception):
    """A journal that cannot be read. The text names the line."""


class Difference(msgspec.Struct, frozen=True):
    """A call that led to other starts than the journal says. `line` counts from 1."""

    line: int
    call: Call
    recorded: list[Started]
    replayed: list[Started]


def replay(lines: Iterable[bytes], make: Make = _unobserved) -> list[Started]:
    """Every start that the journal's calls lead to in a dispatcher from `make`. Raises JournalError."""
    return [each for _, _, starts in _rerun(lines, make, _quiet) for each in starts]


def differences(
    lines: Iterable[bytes], make: Make = _unobserved, cut: Callable[[int], None] = _quiet
) -> list[Difference]:
    """Where replaying the journal leads to other starts than it recorded. Raises JournalError.

    `cut` is told the number of each half line that ends a run.
    """
    return [
        Difference(line, entry.call, entry.started, starts)
        for line, entry, starts in _rerun(lines, make, cut)
        if starts != entry.started
    ]


def _rerun(
    lines: Iterable[bytes], make: Make, cut: Callable[[int], None]
) -> Iterator[tuple[int, Entry, list[Started]]]:
    dispatcher: Dispatcher | None = None
    for number, entry in _entries(lines, cut):
        if isinstance(entry.call, Begin):
            dispatcher = make(entry.call.settings, _table(entry.call), entry.call.now)
            yield number, entry, []
        elif dispatcher is None:
            raise JournalError("line 1: a journal begins with how the dispatcher was made")
        else:
            yield number, entry, started(apply(entry.call, dispatcher))


def _entries(lines: Iterable[bytes], cut: Callable[[int], None]) -> Iterator[tuple[int, Entry]]:
    """The entries by number of their line, without half lines that end a run."""
    half: JournalError | None = None
    number = 0
    for number, line in enumerate(lines, start=1):
        entry = _decode(number, line)
        if half is not None:
            if isinstance(entry, JournalError) or not isinstance(entry.call, Begin):
                raise half
            cut(number - 1)
        half = entry if isinstance(entry, JournalError) else None
        if not isinstance(entry, JournalError):
            yield number, entry
    if half is not None:
        if number == 1:
            raise half
        cut(number)


def apply(call: Call, dispatcher: Dispatcher) -> list[Order]:
    """Make `call` on `dispatcher`; its orders."""
    arguments: list[Any]
    *arguments, now = msgspec.structs.astuple(call)
    if isinstance(call, SetPolicy):
        arguments = [call.scope, call.policy.build() if call.policy else None]
    answer = getattr(dispatcher, str(call.__struct_config__.tag))(*arguments, now)
    return answer if isinstance(answer, list) else []


def _table(how: Begin) -> PolicyTable:
    built = {scope: spec.build() for scope, spec in how.policies.items()}
    return PolicyTable(built.pop("default"), built)


def _decode(number: int, line: bytes) -> Entry | JournalError:
    """The entry, or why it is no JSON. Raises JournalError for JSON that is no entry."""
    try:
        return msgspec.json.decode(line, type=Entry)
    except (msgspec.ValidationError, RecursionError) as error:  # the latter for JSON nested too deeply
        raise _unreadable(number, error) from None
    except msgspec.DecodeError as error:
        return _unreadable(number, error)


def _unreadable(number: int, error: Exception) -> JournalError:
    doubt = "; is it what --journal wrote?" if number == 1 else ""
    return JournalError(f"line {number}: {error}{doubt}")
