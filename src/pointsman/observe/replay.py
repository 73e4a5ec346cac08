"""Making recorded decisions again: a whole journal, or one decision from what its policy saw."""

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
    return [each for _, starts in _rerun(lines, make) for each in starts]


def differences(lines: Iterable[bytes], make: Make = _unobserved) -> list[Difference]:
    """Where replaying the journal leads to other starts than it recorded. Raises JournalError."""
    return [
        Difference(line, entry.call, entry.started, starts)
        for line, (entry, starts) in enumerate(_rerun(lines, make), start=1)
        if starts != entry.started
    ]


def _rerun(lines: Iterable[bytes], make: Make) -> Iterator[tuple[Entry, list[Started]]]:
    dispatcher: Dispatcher | None = None
    for number, line in enumerate(lines, start=1):
        entry = _decode(number, line)
        if isinstance(entry.call, Begin):
            dispatcher = make(entry.call.settings, _table(entry.call), entry.call.now)
            yield entry, []
        elif dispatcher is None:
            raise JournalError("line 1: a journal begins with how the dispatcher was made")
        else:
            yield entry, started(apply(entry.call, dispatcher))


def apply(call: Call, dispatcher: Dispatcher) -> list[Order]:
    """Make `call` on `dispatcher`; its orders."""
    arguments: list[Any]
    *arguments, now = msgspec.structs.astuple(call)
    if isinstance(call, SetPolicy):
        arguments = [call.scope, call.policy.build() if call.policy else None]
    orders: list[Order] = getattr(dispatcher, str(call.__struct_config__.tag))(*arguments, now)
    return orders


def _table(how: Begin) -> PolicyTable:
    built = {scope: spec.build() for scope, spec in how.policies.items()}
    return PolicyTable(built.pop("default"), built)


def _decode(number: int, line: bytes) -> Entry:
    try:
        return msgspec.json.decode(line, type=Entry)
    except (msgspec.DecodeError, RecursionError) as error:  # the latter for JSON nested too deeply
        raise JournalError(f"line {number}: {error}") from None
