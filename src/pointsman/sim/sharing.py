"""Gateways that tell each other what they booked, in rounds, as workers of one gateway do through their supervisor."""

from collections.abc import Sequence

from pointsman.brain.hub import Hub
from pointsman.sim.gateway import Gateway
from pointsman.sim.loop import Loop, Rank


class Sharing:
    """Every `every_s` seconds each gateway tells what changed, and hears what the others told: one round."""

    def __init__(self, loop: Loop, gateways: Sequence[Gateway], every_s: float) -> None:
        self._loop = loop
        self._gateways = gateways
        self._every_s = every_s
        self._hub = Hub()
        for number in range(len(gateways)):
            self._hub.join(number)

    def begin(self) -> None:
        """The first round is now."""
        self._round(None)

    def _round(self, _: None) -> None:
        for number, gateway in enumerate(self._gateways):
            share = gateway.share()
            if share is not None:
                self._hub.tell(number, share)
        for number, gateway in enumerate(self._gateways):
            report = self._hub.report(number)
            if report is not None:
                gateway.hear(report)
        self._loop.at(self._loop.now + self._every_s, Rank.BRAIN, self._round)
