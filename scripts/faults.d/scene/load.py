"""Load that does not wait for answers: a reproducible Poisson process at a share of what the engines can serve.

Half of the requests come over connections that are kept and used again, the other half each over a new one.
"""

import asyncio
from dataclasses import dataclass, field

from pointsman.engine.profile import profile_of
from pointsman.engine.settings import EngineConfig
from pointsman.engine.virtual import saturation_rps
from scene.asks import Ask, Asks, Shape
from scene.client import Answer, Connection

SAMPLES = 1000


@dataclass(slots=True)
class Sent:
    """One request of the load: when it was due (seconds since the load began), and what came of it."""

    due: float
    kept: bool
    """Whether over a connection that is kept and used again."""
    answer: Answer | None = None
    refused: str = ""
    """Why there was no connection to send it over."""

    @property
    def verdict(self) -> str:
        return self.answer.verdict if self.answer is not None else self.refused or "not sent"


@dataclass(frozen=True, slots=True)
class Demand:
    """What arrives when: equal demands are equal to the byte."""

    arrivals: list[tuple[float, Ask]]
    rate: float


def demand(shape: Shape, seed: int, rate: float, seconds: float, prefix: str = "ask") -> Demand:
    """Requests for so many seconds."""
    asks, at, arrivals = Asks(shape, seed, prefix), 0.0, []
    while (at := at + asks.gap(rate)) < seconds:
        arrivals.append((at, asks.next()))
    return Demand(arrivals, rate)


def rate_at(share: float, shape: Shape, seed: int, engine: dict[str, object], engines: int) -> float:
    """Requests per second that fill this share of what so many such engines serve under permanent backlog."""
    known = {name: value for name, value in engine.items() if name in EngineConfig.__struct_fields__}
    asks = Asks(shape, seed)
    samples = [asks.next().sample for _ in range(SAMPLES)]
    return share * engines * saturation_rps(profile_of(EngineConfig(**known)), samples)  # type: ignore[arg-type]


@dataclass(slots=True)
class Load:
    """Sends a demand to `port`. `run`; meanwhile `sent` grows."""

    port: int
    demand: Demand
    sent: list[Sent] = field(default_factory=list)
    _idle: list[Connection] = field(default_factory=list)
    _began: float = 0.0
    _stopped: bool = False

    async def run(self) -> None:
        """Until the last request has been answered."""
        loop = asyncio.get_running_loop()
        self._began = loop.time()
        async with asyncio.TaskGroup() as group:
            for number, (due, ask) in enumerate(self.demand.arrivals):
                await asyncio.sleep(self._began + due - loop.time())
                if self._stopped:
                    break
                sent = Sent(due, kept=number % 2 == 0)
                self.sent.append(sent)
                group.create_task(self._send(sent, ask))
        for connection in self._idle:
            connection.close()

    def stop(self) -> None:
        """Send nothing more."""
        self._stopped = True

    @property
    def now(self) -> float:
        """Seconds since the load began."""
        return asyncio.get_running_loop().time() - self._began

    def at(self, moment: float) -> float:
        """A moment of the event loop's clock in seconds since the load began."""
        return moment - self._began

    def under_way(self) -> list[Sent]:
        return [each for each in self.sent if each.answer is None or not each.answer.ended_at]

    async def _send(self, sent: Sent, ask: Ask) -> None:
        connection = self._kept() if sent.kept else None
        if connection is None:
            try:
                connection = await Connection.to(self.port)
            except OSError as error:
                sent.refused = f"no connection: {error.strerror}"
                return
        lines = () if sent.kept else ("connection: close",)
        sent.answer = connection.send(ask, *lines)
        await connection.ended()
        if connection.open and sent.kept:
            self._idle.append(connection)
        else:
            connection.close()

    def _kept(self) -> Connection | None:
        """The kept connection used longest ago that is still open."""
        while self._idle:
            connection = self._idle.pop(0)
            if connection.open:
                return connection
        return None
