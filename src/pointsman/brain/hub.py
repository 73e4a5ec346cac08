"""What each gateway has told of its bookings, and what the others before the same nodes have yet to hear of it.

Whoever stands between them keeps it: the supervisor of several workers, or the simulator.

Strategy: a member tells only what changed, and hears only what changed since it last heard: the sums of all others,
so that it need not know how many they are. Reports made in one go are one round: all come from the same sums (see
`brain.bounds` for what hangs on that). Prompts are passed on as they are, and dropped, oldest first, where a member
does not keep up.
"""

from collections import deque
from collections.abc import Iterable, Sequence

from pointsman.brain.model.reports import ClientReport
from pointsman.brain.model.sharing import SHARED, Booked, Known, PeerReport, Sent, Share

UNHEARD_BYTES = 4 * 1024 * 1024
"""Prompts kept for a member that does not keep up."""

_NOTHING = Booked()


class Hub:
    """Members by number. `tell` what one says, then `report` to each."""

    def __init__(self) -> None:
        self._members: dict[int, _Member] = {}
        self._sums: dict[str, Booked] = {}

    def __len__(self) -> int:
        return len(self._members)

    def __bool__(self) -> bool:
        return bool(self._members)

    def booked(self, node: str) -> Booked:
        """What all together hold on the node."""
        return self._sums.get(node, _NOTHING)

    def join(self, number: int) -> None:
        """A new member, which has everything to hear."""
        self._members[number] = _Member(self._sums)
        self._news()

    def leave(self, number: int) -> None:
        """The member is gone, and with it all it held. Repeating is harmless."""
        member = self._members.pop(number, None)
        if member is not None:
            for node in member.booked:
                self._book(member, node, _NOTHING)
            self._news()

    def tell(self, number: int, share: Share) -> None:
        """What a member tells; passed over if it is gone."""
        member = self._members.get(number)
        if member is None:
            return
        for node, booked in share.booked.items():
            self._book(member, node, booked)
        for other in self._members.values():
            if other is not member:
                other.send(share.sent)
                other.feed_back(share.feedback)
        if share.waiting != member.waiting:
            self._news()
        member.take(share)

    def recall(self, number: int, sent: Sequence[Sent]) -> None:
        """A new member is to believe what the others have long known; passed over if it is gone."""
        member = self._members.get(number)
        if member is not None:
            member.send(sent)

    def report(self, number: int) -> PeerReport | None:
        """What the member has yet to hear, taken as heard; None if there is nothing."""
        member = self._members[number]
        if not member.news:
            return None
        nodes = {node: self._known(member, node) for node in member.stale}
        return PeerReport(
            gateways=len(self._members),
            counted=member.counted,
            nodes=nodes,
            feedback=member.feedback(),
            sent=member.hear(),
            waiting=self._waiting(member),
        )

    def _known(self, member: "_Member", node: str) -> Known:
        ours = member.booked.get(node, _NOTHING)
        return Known(_sum(self._sums.get(node, _NOTHING), ours, -1), ours.outstanding)

    def _waiting(self, member: "_Member") -> dict[str, int]:
        counts: dict[str, int] = {}
        for other in self._members.values():
            if other is not member:
                for model in other.waiting:
                    counts[model] = counts.get(model, 0) + 1
        return counts

    def _book(self, member: "_Member", node: str, booked: Booked) -> None:
        left = _sum(self._sums.get(node, _NOTHING), member.booked.get(node, _NOTHING), -1)
        self._sums[node] = _sum(left, booked, 1)
        if self._sums[node] == _NOTHING:
            del self._sums[node]
        for other in self._members.values():
            other.stale.add(node)
            other.news = True

    def _news(self) -> None:
        for member in self._members.values():
            member.news = True


class _Member:
    """One gateway: what it told, and what it has yet to hear."""

    def __init__(self, nodes: Iterable[str]) -> None:
        self.booked: dict[str, Booked] = {}
        self.waiting: tuple[str, ...] = ()
        self.counted = 0
        self.news = True
        self.stale = set(nodes)
        self._unheard: deque[Sent] = deque()
        self._unheard_bytes = 0
        self._feedback: list[ClientReport] = []

    def take(self, share: Share) -> None:
        self.booked |= share.booked
        for node, booked in share.booked.items():
            if booked == _NOTHING:
                del self.booked[node]
        self.waiting = share.waiting
        self.counted = share.number
        self.news = True

    def send(self, sent: Iterable[Sent]) -> None:
        for prompt in sent:
            self._unheard.append(prompt)
            self._unheard_bytes += len(prompt.links)
            self.news = True
        while self._unheard_bytes > UNHEARD_BYTES:
            self._unheard_bytes -= len(self._unheard.popleft().links)

    def feed_back(self, reports: Sequence[ClientReport]) -> None:
        self._feedback += reports
        self.news = self.news or bool(reports)

    def feedback(self) -> list[ClientReport]:
        taken, self._feedback = self._feedback, []
        return taken

    def hear(self) -> list[Sent]:
        sent = list(self._unheard)
        self._unheard.clear()
        self._unheard_bytes = 0
        self.stale.clear()
        self.news = False
        return sent


def _sum(one: Booked, other: Booked, sign: int) -> Booked:
    return Booked(*[getattr(one, name) + sign * getattr(other, name) for name in SHARED])
