"""From a ticket to a lease: candidates, overlap, view, policy, booking.

Everything here happens inside one call, so two requests in the same millisecond see each other's bookings.
"""

from array import array
from collections.abc import Sequence

import numpy as np

from pointsman.brain.admission.isolation import Isolation
from pointsman.brain.admission.tenant_shares import TenantShares
from pointsman.brain.cache.holders import SMALL_FLEET
from pointsman.brain.cache.hot import HotPrefixes
from pointsman.brain.cache.index import Insertion, PrefixIndex
from pointsman.brain.cache.pool import Pool
from pointsman.brain.cache.prealloc import Preallocation
from pointsman.brain.cache.trust import Trust
from pointsman.brain.commanding import Commanding
from pointsman.brain.fleet import Fleet, Found
from pointsman.brain.lease import Lease, Ticket
from pointsman.brain.ledger import Ledger
from pointsman.brain.model.choice import Choice, Hold
from pointsman.brain.model.errors import PolicyFailed
from pointsman.brain.model.facts import Decided, PolicyRaised
from pointsman.brain.model.kv_events import CacheChange
from pointsman.brain.model.node import Residency as How
from pointsman.brain.model.orders import Order
from pointsman.brain.model.reports import NodeReport
from pointsman.brain.model.request import Request
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.model.sharing import Sent
from pointsman.brain.model.view import Floats, Rows, View
from pointsman.brain.observers import Observers
from pointsman.brain.pinning import Pinning
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.pickers import every
from pointsman.brain.policies.table import PolicyTable
from pointsman.brain.residency import Residency
from pointsman.brain.swapping import Swapping

DEFAULT_KV_TOKENS = 262_144
"""KV capacity assumed for the prefix index where a node neither declares nor reports one."""
RESIZE_SHARE = 0.1
"""A node's room in links is changed only when what it follows from moved by more than this share."""

_NO_ROOM = 0.0, 1.0


class Placement:
    """Chooses and books. Mutates the ledger, the pool, the index and its own counts of decisions.

    Nodes that obey are instructed in `out`.
    """

    def __init__(
        self,
        settings: BrainSettings,
        fleet: Fleet,
        policies: PolicyTable,
        tell: Observers,
        out: list[Order],
    ) -> None:
        self._settings = settings
        self._fleet = fleet
        self._policies = policies
        self._tell = tell
        self.ledger = Ledger(fleet)
        self.isolation = Isolation(settings, fleet)
        self.shares = TenantShares(settings.tenants, fleet)
        self.pool = Pool(fleet)
        self.prealloc = Preallocation(settings.cache, fleet, self.pool)
        self.index = PrefixIndex()
        self.residency = Residency(fleet)
        self.commanding = Commanding(settings, fleet, self.index, self.pool, tell, out)
        self.pinning = Pinning(fleet, self.index, self.pool, self.commanding)
        self.swapping = Swapping(fleet, self.commanding)
        self.hot = HotPrefixes(settings.cache.demand_memory_s)
        self._trust = Trust()
        self._room: dict[int, tuple[float, float]] = {}
        self._decisions = 0
        self._sequence: dict[str, int] = {}
        self._memo: dict[str, object] = {}

    def configure(self, settings: BrainSettings) -> None:
        """Go by `settings` from now on."""
        self._settings = settings
        self.isolation.configure(settings)
        self.shares.configure(settings.tenants)
        self.prealloc.configure(settings.cache)
        self.commanding.configure(settings)
        self.hot.memory_s = settings.cache.demand_memory_s

    def policy(self, ticket: Ticket) -> Policy:
        """The policy that decides for the ticket."""
        return self._policies.of(ticket.request)

    def view(self, ticket: Ticket, now: float) -> View | None:
        """The ticket's sight of the nodes that could take it now, or None if there is none."""
        rows, whole = self._candidates(ticket)
        if not len(rows):
            return None
        fleet, settings = self._fleet, self._settings
        model = ticket.request.model
        return View(
            fleet.table,
            rows,
            overlap=self._overlap(ticket, rows, whole),
            prompt_tokens=ticket.prompt_tokens,
            output_tokens=ticket.output_tokens,
            now=now,
            sequence=self._sequence.get(model, 0),
            draw=(settings.seed, self._decisions),
            memo=self._memo.get(model),
            whole=whole,
            ttft_objective=settings.ttft_objective_s,
            gateways=settings.gateways,
            priority=ticket.request.priority,
            reserve_tokens=ticket.reserve_tokens,
            places=self._places(ticket, rows) if self.pool.arenas else None,
            kept=self._kept(ticket, rows) if self.prealloc.on else None,
            cells=fleet.cells,
            listed=fleet.found(model).listed if whole else None,
        )

    def prospects(self, ticket: Ticket) -> list[tuple[int, float]]:
        """The rows that could take the ticket if they had room, each with the tokens of its prompt that it holds."""
        found = self._fleet.found(ticket.request.model)
        rows = self._apart(self._allowed(found, ticket) if ticket.excluded else found.rows, found, ticket)
        overlap = self._overlap(ticket, rows, whole=False)
        return list(zip(rows.tolist(), overlap if isinstance(overlap, list) else overlap.tolist(), strict=True))

    def decide(self, ticket: Ticket, view: View, now: float) -> Choice | Hold:
        """Ask the ticket's policy, count and remember its answer, tell observers. Raises PolicyFailed."""
        policy = self.policy(ticket)
        answer = self._answer(policy, ticket.request, view, now)
        model = ticket.request.model
        self._decisions += 1
        if answer.memo is not None:
            self._memo[model] = answer.memo
        if isinstance(answer, Choice):
            self._sequence[model] = view.sequence + 1
        if self._tell.want(Decided):
            self._tell(Decided(now, ticket.id, ticket.request, policy.name, view, answer))
        return answer

    def tell_raised(self, policy: Policy, call: str, request: Request, error: Exception, now: float) -> None:
        """Tell observers that a call of `policy` raised: its author wants to know, the client cannot help it."""
        self._tell(PolicyRaised(now, policy.name, call, request, error))

    def book(self, ticket: Ticket, view: View, choice: Choice, lease_id: int, now: float) -> Lease:
        """Make the choice a lease: its requests, tokens and blocks are counted from now on."""
        row, prompt = view.row_of(choice.index), ticket.prompt_tokens
        overlap = min(int(view.overlap_of(choice.index)), prompt)
        miss, context = prompt - overlap, prompt + ticket.output_tokens
        cells = self._fleet.cells
        ahead, pairs_ahead = cells.backlog_tokens[row], cells.backlog_pairs[row]
        work = ahead * cells.prefill_per_token[row] + pairs_ahead * cells.prefill_per_pair[row]
        left = work - cells.prefilled_seconds[row]
        running, before = cells.running[row], cells.context_tokens[row]
        queue = cells.outstanding[row]
        booking = self.ledger.book(row, miss, miss * (overlap + prompt) // 2, context, now)
        lease = Lease(lease_id, ticket, self._fleet.spec(row).name, booking, now)
        per_token = cells.prefill_per_token[row] + 0.5 * (overlap + prompt) * cells.prefill_per_pair[row]
        prefill = cells.prefill_base[row] + miss * per_token
        lease.expected_s = max(left, 0.0) + prefill
        lease.overlap_tokens = overlap
        share = min(max(left / work, 0.0), 1.0) if work > 0.0 else 0.0
        lease.ahead_tokens = ahead * share
        lease.ahead_pairs = pairs_ahead * share
        lease.queue_at_start = queue
        lease.running_at_start = running
        lease.context_at_start = before
        if self.isolation.on:
            self.isolation.begun(lease_id, row, prompt)
        if self.prealloc.on:
            self._take_kept(lease, now)
        if self._settings.cache.warm_nodes:
            self._note_shared(ticket, view.most_overlap, now)
        lease.blocks = self.pool.reserve(row, prompt + ticket.reserve_tokens, lease_id)
        if self.shares.on:
            self.shares.begun(lease_id, row, ticket.request.tenant, lease.blocks)
        return lease

    def remember(self, lease: Lease) -> None:
        """The node is being sent this prompt: the index counts its chain as held there."""
        if self.residency.on:
            self.residency.begun(lease)
        chain, commands = lease.ticket.request.chain, self.commanding.obeys(lease.row)
        if commands:
            self.commanding.comes(lease.row, lease.ticket.request.tenant, lease.started)
        if self.swapping.swapped:
            self.swapping.over(lease.ticket.id)
        if chain is not None and chain.links:
            lease.insertion = self.learn(lease.row, chain.links, lease.ticket.tokens_per_link)
        if commands:
            self.commanding.begun(lease)

    def learn(self, row: int, links: Sequence[int], tokens_per_link: float) -> Insertion:
        """A prompt with this chain is sent to the node at `row`, by whomever."""
        if self.commanding.obeys(row):
            self._room.pop(row, None)  # to be found anew, should the node be believed again
        else:
            self._fit_links(row, tokens_per_link)
        insertion = self.index.insert(row, links)
        if not self.residency.reports(row):
            self.pool.cached(row, self.index.held(row) * tokens_per_link)
        return insertion

    def beliefs(self, links: int) -> list[Sent]:
        """What the nodes are believed to hold, each node's newest prompts, up to so many links in all."""
        rows = list(self._fleet.rows())
        return [
            Sent(self._fleet.spec(row).name, bytes(array("Q", chain)), self._room[row][0])
            for row in rows
            if row in self._room
            for chain in self.index.newest(row, links // len(rows))
        ]

    def release(self, lease: Lease, now: float) -> None:
        """Give back all the lease holds. Repeating is harmless."""
        if lease.booking.open:
            self.pool.release(lease.row, lease.blocks, lease.id)
            self.isolation.ended(lease.id)
            self.shares.ended(lease.id)
            if self.prealloc.on:
                self.prealloc.ended(lease.id, now)
            if self.residency.on:
                self.residency.ended(lease.id)
            if self.commanding.on:
                self.commanding.ended(lease)
        self.ledger.release(lease.booking, now)

    def unlearn(self, lease: Lease) -> None:
        """The node failed before the first token: what this prompt alone was to add there is not held."""
        chain = lease.ticket.request.chain
        if chain is not None and lease.insertion is not None:
            self.index.undo(lease.row, chain.links, lease.insertion)
            if self.commanding.obeys(lease.row):
                self.commanding.flush(lease.row)

    def correct(self, lease: Lease, cached_tokens: int) -> None:
        """The engine said how much of the prompt it had cached: believe its room accordingly."""
        if not (self.residency.reports(lease.row) or self.commanding.obeys(lease.row)):  # that was no belief
            self._trust.observe(lease.row, lease.ticket.prompt_tokens, lease.overlap_tokens, cached_tokens)

    def track(self, row: int) -> None:
        """Start to index a new node; its room is set by its first insertion."""
        self.index.add(row, 0)
        self.residency.declare(row)
        self.pool.lay(row, self._fleet.spec(row))

    def untrack(self, row: int) -> None:
        """Stop to index a node."""
        self.index.remove(row)
        self.residency.forget(row)
        self.commanding.leave(row)
        self.swapping.forget(row)
        self.pool.forget(row)
        self.resized(row)

    def resized(self, row: int) -> None:
        """The node's KV memory changed: its layout follows now, its room in links at the next insertion."""
        self.pool.relay(row)
        self.prealloc.forget(row)
        self._trust.forget(row)
        self._room.pop(row, None)

    def fell(self, row: int, now: float, *, tells_start: bool) -> None:
        """The node is down, and has lost its cache for all we know.

        Of one that is commanded we will hear that, if it tells when its process began (`tells_start`); else it is
        commanded anew when it is back, as if it were empty.
        """
        if self.commanding.obeys(row):
            if tells_start:
                return
            self.commanding.believe(row, "it was down, and does not tell whether it was restarted", now)
        self.forget(row)

    def forget(self, row: int) -> None:
        """The node lost its cache: what it reported goes when it says so itself."""
        if self.commanding.obeys(row):
            self.commanding.forget(row)
        else:
            self.index.clear(row)
        self.swapping.forget(row)
        self._trust.forget(row)
        if not self.residency.reports(row):
            self.pool.cached(row, 0.0)

    def reported(self, row: int, change: CacheChange, now: float) -> bool:
        """Enter what a node tells of its cache; False for one that is not known by that."""
        if not self.residency.reports(row):
            return False
        if change.cleared:  # belief may be as wrong
            self.forget(row)
        self.pool.cached(row, self.residency.change(row, change, now))
        return True

    def heard(self, row: int, report: NodeReport, now: float) -> None:
        """A good probe of a node that is declared to be commanded."""
        self.commanding.heard(row, report, now)
        self.swapping.heard(row, report)

    def known_by(self, row: int) -> How:
        """How it is known what the node at `row` has cached: not as it is declared, where it does not obey."""
        return "reported" if self.residency.reports(row) else self.commanding.residency(row)

    def uncommand(self, row: int, now: float) -> None:
        """The node is not to be commanded any more."""
        if self.commanding.obeys(row):
            self.commanding.believe(row, "it is declared so", now)
        self.swapping.forget(row)

    def _answer(self, policy: Policy, request: Request, view: View, now: float) -> Choice | Hold:
        try:
            answer = policy.choose(request, view)
            _check(answer, len(view))
        except Exception as error:
            cause = self._of_no_number(policy, request, view) or error
            self.tell_raised(policy, "choose", request, cause, now)
            raise PolicyFailed(f"policy {policy.name!r} failed; see the gateway's log") from cause
        return answer

    def _of_no_number(self, policy: Policy, request: Request, view: View) -> ValueError | None:
        """Which node the policy that has just raised gives a score that is no number: that explains it."""
        try:
            scores = np.asarray(policy.score(request, view), dtype=np.float64)
            wrong = np.flatnonzero(np.isnan(scores[: len(view)])).tolist()
        except Exception:
            return None
        nodes = [self._fleet.spec(view.row_of(index)).name for index in wrong]
        return ValueError(f"its score of node {', '.join(nodes)} is not a number") if nodes else None

    def _candidates(self, ticket: Ticket) -> tuple[Rows, bool]:
        """The rows that may take the ticket now, and whether they are all rows in order."""
        found = self._fleet.found(ticket.request.model)
        for row in found.trials:
            if self._tries(row, ticket):
                trial = np.array([row], dtype=np.intp)
                if len(self._apart(trial, found, ticket)):
                    return trial, False
        if ticket.excluded or self._any_full(found):
            rows = self._allowed(found, ticket) if ticket.excluded else found.rows
            rows = rows[self._fleet.table.outstanding[rows] < self._fleet.bound[rows]]
            return self._apart(rows, found, ticket), False
        if self.isolation.on or self.shares.on:
            return self._apart(found.rows, found, ticket), False
        return found.rows, found.whole

    def _apart(self, rows: Rows, found: Found, ticket: Ticket) -> Rows:
        """Those of `rows` that a prompt of this length and this tenant may use."""
        if self.isolation.on:
            rows = self.isolation.among(rows, found.rows, ticket.prompt_tokens)
        if self.shares.on:
            rows = self.shares.among(rows, ticket.request.tenant, ticket.prompt_tokens + ticket.reserve_tokens)
        return rows

    def _any_full(self, found: Found) -> bool:
        """Whether some node that serves the model holds as much as it may. A few are looked at one by one."""
        fleet = self._fleet
        if len(found.listed) > SMALL_FLEET:
            outstanding = fleet.table.outstanding
            return not every(outstanding < fleet.bound[: len(outstanding)])
        held, bound = fleet.cells.outstanding, fleet.bounds.bound_cells
        for row in found.listed:  # noqa: SIM110 - `any` over a generator costs more than all the rest
            if held[row] >= bound[row]:
                return True
        return False

    def _allowed(self, found: Found, ticket: Ticket) -> Rows:
        """The nodes that have not failed the ticket; where no others are in use, those that have been well since."""
        fleet = self._fleet
        failed = {fleet.row_of.get(node) for node in ticket.excluded}
        rows = [row for row in found.listed if row not in failed]
        rows = rows or [row for row in found.listed if fleet.well_at[row] > ticket.failed_at]
        return np.array(rows, dtype=np.intp)

    def _tries(self, row: int, ticket: Ticket) -> bool:
        """Whether the node on trial gets this ticket, whatever the policy: many would never choose a node like that.

        A request that has failed once is not put at risk again.
        """
        return not ticket.attempts and bool(self._fleet.table.outstanding[row] < self._fleet.bound[row])

    def _overlap(self, ticket: Ticket, rows: Rows, whole: bool) -> Floats | list[float]:
        """Tokens of the prompt that each of `rows` holds; a list where there are few nodes."""
        chain, size = ticket.request.chain, len(self._fleet)
        if size > SMALL_FLEET:
            if chain is None or not chain.links:
                return np.zeros(len(rows))
            depths = self.index.depths(chain.links, size, ticket.tokens_per_link, ticket.prompt_tokens)
            if self.residency.on:
                depths = self.residency.overlaid(depths, ticket)
            if ticket.id in self.swapping.swapped:
                self._count_copy(depths, ticket)
            return depths if whole else depths[rows]
        listed = [0.0] * size
        if chain is not None and chain.links:
            self.index.mark(listed, chain.links, ticket.tokens_per_link, ticket.prompt_tokens)
            if self.residency.on:
                self.residency.overlay(listed, ticket)
            if self.swapping.swapped and ticket.id in self.swapping.swapped:
                self._count_copy(listed, ticket)
        return listed if whole else [listed[row] for row in rows.tolist()]

    def _count_copy(self, overlap: Floats | list[float], ticket: Ticket) -> None:
        """What was copied of the ticket before it had to leave counts as held there."""
        copy = self.swapping.swapped[ticket.id]
        overlap[copy.row] = max(overlap[copy.row], float(min(copy.tokens, ticket.prompt_tokens)))

    def _places(self, ticket: Ticket, rows: Rows) -> Rows:
        """For each of `rows` whether its layout has a place for the ticket."""
        tokens = ticket.prompt_tokens + ticket.reserve_tokens
        return np.array([self.pool.place(row, tokens) for row in rows.tolist()], dtype=np.intp)

    def _note_shared(self, ticket: Ticket, tokens: float, now: float) -> None:
        """Some node holds the ticket's first `tokens`: a prompt before it began alike."""
        chain, per_link = ticket.request.chain, ticket.tokens_per_link
        if chain is not None and tokens >= per_link > 0.0:
            shared = chain.links[: round(tokens / per_link)]
            self.hot.hit(ticket.request.model, shared, per_link, ticket.id, now)

    def arrived(self, ticket: Ticket, now: float) -> None:
        """A request came, whatever will become of it: it is of the demand that memory is kept ready for."""
        if self.prealloc.on:
            self.prealloc.arrived(ticket.request.model, ticket.prompt_tokens + ticket.reserve_tokens, now)

    def keeps_for(self, ticket: Ticket) -> bool:
        """Whether some node keeps memory ready that would do for the ticket: it takes nobody's place in a queue."""
        tokens = ticket.prompt_tokens + ticket.reserve_tokens
        return self.prealloc.on and self.prealloc.ready(ticket.request.model, tokens)

    def _kept(self, ticket: Ticket, rows: Rows) -> Floats | None:
        """Blocks that each of `rows` keeps ready for requests like this one."""
        return self.prealloc.offered(ticket.request.model, ticket.prompt_tokens + ticket.reserve_tokens, rows)

    def _take_kept(self, lease: Lease, now: float) -> None:
        """Give the lease, whose blocks are about to be reserved, what is kept ready for it."""
        ticket = lease.ticket
        model, tokens = ticket.request.model, ticket.prompt_tokens + ticket.reserve_tokens
        self.prealloc.begun(lease.id, lease.row, model, tokens, now)

    def _fit_links(self, row: int, tokens_per_link: float) -> None:
        """Set the row's room in links, unless what it follows from has hardly moved."""
        factor = self._trust.of(row)
        per_link, trusted = self._room.get(row, _NO_ROOM)
        as_before = abs(per_link - tokens_per_link) <= RESIZE_SHARE * tokens_per_link
        if as_before and abs(trusted - factor) <= RESIZE_SHARE * factor:
            return
        self._room[row] = (tokens_per_link, factor)
        blocks = float(self._fleet.columns.kv_capacity[row])
        tokens = blocks * float(self._fleet.columns.block_tokens[row]) if blocks < np.inf else DEFAULT_KV_TOKENS
        self.index.resize(row, max(1, int(factor * tokens / tokens_per_link)))


def _check(answer: Choice | Hold, candidates: int) -> None:
    """What others go by later is what it should be. Raises TypeError, IndexError or ValueError."""
    if isinstance(answer, Choice):
        if not 0 <= answer.index < candidates:
            raise IndexError(f"candidate {answer.index} of {candidates}")
    elif not isinstance(answer, Hold):
        raise TypeError(f"{answer!r} is neither a Choice nor a Hold")
    given = answer.given
    if not ((isinstance(given, list) or given.ndim == 1) and len(given) == candidates):
        raise ValueError(f"the scores are not {candidates} numbers, one per candidate")
    if not isinstance(answer.reason, str):
        raise TypeError(f"the reason is {answer.reason!r}, not a word")
