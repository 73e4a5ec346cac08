"""Many runs, several at a time: each process takes the next one when it is done.

Runs depend on nothing but their case, so their results do not depend on how many processes there are. Processes are
started afresh, not forked: what this one holds, threads among it, is nothing they could use. They pass over Ctrl-C,
which a terminal sends to all; this one hears it and ends them. Should this one die, their next word to it fails.
"""

import signal
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import NoReturn

import msgspec

from pointsman.config.flags import ConfigError
from pointsman.simulate.cases import Case, Measured, measure
from pointsman.simulate.progress import Bar, Begin

GRACE_S = 5.0
"""How long a process may take to end when told to."""


class RunFailed(Exception):
    """A run came to no result. The text names the run and says why; `details`: where in the code, "" if unknown."""

    def __init__(self, case: Case, why: str, details: str = "") -> None:
        super().__init__(f"{case.name}: {why}")
        self.details = details


class Failure(msgspec.Struct, frozen=True):
    """Why a run failed. `settings`: whether a setting is to blame."""

    why: str
    details: str
    settings: bool


Word = float | Measured | Failure
"""What a process says: the second its run has reached, or what came of it."""


def measure_all(cases: Sequence[Case], jobs: int, begin: Begin) -> list[Measured]:
    """The results in the order of the cases. Raises RunFailed for the first that fails, ConfigError for settings."""
    if min(jobs, len(cases)) == 1:
        return [_here(case, begin(case.name)) for case in cases]
    with _processes(min(jobs, len(cases))) as helpers:
        return _Round(cases, helpers, begin).run()


def _here(case: Case, bar: Bar) -> Measured:
    try:
        found = measure(case, bar.tick)
    except ConfigError:
        raise
    except Exception as error:
        raise RunFailed(case, _told(error), traceback.format_exc()) from error
    bar.end()
    return found


class _Round:
    """Hands out cases until all are measured."""

    def __init__(self, cases: Sequence[Case], helpers: dict[Connection, BaseProcess], begin: Begin) -> None:
        self._cases = cases
        self._helpers = helpers
        self._begin = begin
        self._next = 0
        self._found: dict[int, Measured] = {}
        self._doing: dict[Connection, tuple[int, Bar]] = {}

    def run(self) -> list[Measured]:
        for helper in self._helpers:
            self._hand_out(helper)
        while self._doing:
            for spoke in wait(list(self._doing)):
                assert isinstance(spoke, Connection)
                self._hear(spoke)
        return [self._found[number] for number in range(len(self._cases))]

    def _hand_out(self, helper: Connection) -> None:
        if self._next < len(self._cases):
            case = self._cases[self._next]
            self._doing[helper] = self._next, self._begin(case.name)
            self._next += 1
            try:
                helper.send(case)
            except ConnectionError:
                self._lost(helper, case)

    def _hear(self, helper: Connection) -> None:
        number, bar = self._doing[helper]
        try:
            word: Word = helper.recv()
        except (EOFError, ConnectionError):
            self._lost(helper, self._cases[number])
        if isinstance(word, float):
            bar.tick(word)
        elif isinstance(word, Failure):
            raise ConfigError(word.why) if word.settings else RunFailed(self._cases[number], word.why, word.details)
        else:
            self._found[number] = word
            bar.end()
            del self._doing[helper]
            self._hand_out(helper)

    def _lost(self, helper: Connection, case: Case) -> NoReturn:
        process = self._helpers[helper]
        process.join(GRACE_S)
        hint = "; is there enough memory? fewer --jobs need less" if process.exitcode == -signal.SIGKILL else ""
        raise RunFailed(case, f"its process ended with status {process.exitcode}{hint}")


@contextmanager
def _processes(count: int) -> Iterator[dict[Connection, BaseProcess]]:
    """That many processes by their connection; ended, whatever they do, when the block is left."""
    context = get_context("spawn")
    helpers: dict[Connection, BaseProcess] = {}
    try:
        for _ in range(count):
            near, far = context.Pipe()
            process = context.Process(target=_help, args=(far,), daemon=True)
            process.start()
            far.close()
            helpers[near] = process
        yield helpers
    finally:
        for helper in helpers.values():
            helper.terminate()
        for near, helper in helpers.items():
            helper.join(GRACE_S)
            near.close()


def _help(connection: Connection) -> None:
    """What a process does: take a case, tell how far it is, send what came of it; until nobody is there."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        while True:
            connection.send(_answer(connection.recv(), connection))
    except (EOFError, ConnectionError):
        return


def _answer(case: Case, connection: Connection) -> Measured | Failure:
    try:
        return measure(case, connection.send)
    except ConnectionError:
        raise
    except Exception as error:
        return Failure(_told(error), traceback.format_exc(), isinstance(error, ConfigError))


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, ConfigError) else f"{type(error).__name__}: {error}"
