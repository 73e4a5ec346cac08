"""What is believed of caches: as large as what is live, whatever the history, and gone with the node it was on."""

import asyncio
import os
import resource
from pathlib import Path

import pytest
from tests.e2e.gateway.conftest import World, chat
from tests.e2e.gateway.scripted_upstream import always, respond
from tests.support.driver import TestDriver, chain

from pointsman.admin.services import Services
from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.orders import Start
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.model.reports import NodeReport
from pointsman.brain.model.request import Chain, Request
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.policies.registry import build
from pointsman.brain.policies.table import PolicyTable
from pointsman.observe.decisions import Decisions
from pointsman.observe.metrics import Metrics
from pointsman.observe.stories import Stories
from pointsman.observe.usage import UsageLog

PROMPTS = int(os.environ.get("POINTSMAN_PROMPTS", "10000"))
"""`POINTSMAN_PROMPTS=1000000` tries as many as the fault's reporter did, in some minutes."""
BLOCKS = 500
DONE = Outcome(verdict=Verdict.OK, prompt_tokens=128, completion_tokens=5, cached_tokens=0)
LINKS = 8
GOOD = always(respond(b'{"choices":[],"usage":{"prompt_tokens":700,"completion_tokens":2}}'))


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


class Fleet:
    """Two nodes of little memory under a stream of prompts that are all different, everything observed."""

    def __init__(self, policy: str) -> None:
        self.dispatcher = Dispatcher(BrainSettings(), PolicyTable(build(policy)), [Metrics()])
        decisions = Decisions(self.dispatcher.fleet)
        self.usage = UsageLog(lambda _: None)
        for observer in (decisions, Stories(self.dispatcher.fleet, decisions, lambda: "fcfs"), self.usage):
            self.dispatcher.subscribe(observer.handlers)
        self.now = 0.0
        self.asked = 0
        for name in "ab":
            self.dispatcher.add_node(NodeSpec(url=f"http://{name}", id=name, models=("m",), slots=8), self.now)
            self.dispatcher.report(NodeReport(node=name, ok=True, kv_blocks=BLOCKS, block_tokens=16), self.now)

    def ask(self, prompts: int) -> None:
        for _ in range(prompts):
            self.one()
        self.usage.flush()

    def one(self) -> None:
        """A prompt that shares its beginning with others, so that a tree would split at every one."""
        self.asked += 1
        self.now += 0.01
        links = [7, self.asked % 50 + 100, *range(1000 * self.asked, 1000 * self.asked + LINKS - 2)]
        request = Request(
            id=f"r{self.asked}", model="m", session=f"s{self.asked}", chain=Chain("trace", links, 16.0),
            prompt_tokens=16 * LINKS, max_tokens=self.asked % 1000 + 1, stream=True,
        )  # fmt: skip
        start = self.dispatcher.submit(request, self.now)[0]
        assert isinstance(start, Start)
        self.dispatcher.first_token(start.lease, self.now)
        self.dispatcher.finished(start.lease, DONE, self.now)
        self.dispatcher.tick(self.now)


@pytest.mark.timeout(120 + PROMPTS // 1000)
@pytest.mark.parametrize("policy", ["fastest_completion", "session"])
def test_prompts_without_end_leave_what_is_live(policy: str) -> None:
    fleet = Fleet(policy)
    fleet.ask(PROMPTS // 2)
    before = resident()
    fleet.ask(PROMPTS // 2)
    grown = resident() - before
    index = fleet.dispatcher.placement.index
    live = sum(index.held(row) for row in fleet.dispatcher.fleet.rows())
    told = f"{live} live links, {len(index)} entries, {grown / before:+.2%} of memory"
    print(f"{policy}, {PROMPTS} prompts: {told}")
    assert len(index) <= live <= 2 * BLOCKS
    assert grown <= 0.05 * before


def test_a_removed_node_leaves_nothing_behind() -> None:
    """Nodes come, are filled and leave, two hundred of them."""
    driver = TestDriver("fastest_completion")
    driver.add("stays", slots=4, kv_tokens=1000)
    for number in range(200):
        name = f"n{number}"
        driver.add(name, slots=4, kv_tokens=1000)
        for prompt in range(4):
            driver.submit(chain=chain(number, prompt, 1, 2, 3), tokens=80)
        for lease in list(driver.running):
            driver.finish(lease)
        driver.obey(driver.dispatcher.remove_node(name, driver.now))
        driver.tick(0.5)
    dispatcher = driver.dispatcher
    index = dispatcher.placement.index
    assert [dispatcher.fleet.spec(row).name for row in dispatcher.fleet.rows()] == ["stays"]
    driver.submit(chain=chain(*range(60)), tokens=960)
    assert len(index) <= index.held(0) + 60, "links of nodes that are gone"
    driver.rest()


@pytest.mark.parametrize("cause", ["restart", "down"])
def test_what_a_node_lost_is_not_hit(cause: str) -> None:
    """It ran out of memory and was started again, or its probes say that it is another process."""
    driver = TestDriver("fastest_completion")
    driver.add("a", slots=4, kv_tokens=10_000)
    driver.report("a", started_at=1.0)

    def hit() -> float:
        ticket = driver.submit(chain=chain(1, 2, 3, 4), tokens=64)
        lease = driver.dispatcher.lives.leases[driver.lease_of(ticket)]
        driver.finish(lease.id)
        return lease.overlap_tokens

    assert [hit(), hit() > 0] == [0.0, True]
    if cause == "down":
        driver.tick(3.0)
        for _ in range(4):
            driver.report("a", ok=False, reason="refused")
        driver.tick(11.0)
    driver.report("a", started_at=2.0)
    driver.tick(11.0)
    driver.report("a", started_at=2.0)
    assert [hit(), hit() > 0] == [0.0, True]


async def test_looking_while_much_is_cached_and_evicted_is_no_error(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """Prompts of many clients push each other out while pages about them are read, each from its own task."""
    world.policy = "fastest_completion"
    await world.open(GOOD, GOOD, slots=8)
    for row in world.dispatcher.fleet.rows():
        world.dispatcher.placement.index.resize(row, 40)
    clients = [await world.client() for _ in range(12)]

    async def ask(number: int) -> None:
        for turn in range(25):
            prompt = f"{number % 3} {turn} " * 150
            assert (await clients[number].ask(chat(messages=[{"role": "user", "content": prompt}]))).status == 200

    decisions = Decisions(world.dispatcher.fleet)
    stories = Stories(world.dispatcher.fleet, decisions, lambda: "fcfs")
    for observer in (decisions, stories):
        world.dispatcher.subscribe(observer.handlers)
    services = Services(world.dispatcher, print, world.clock, world.metrics, decisions, stories)
    looked = 0

    async def look() -> None:
        nonlocal looked
        while asked:
            looked += 1
            assert services.metrics_page()
            assert len(services.nodes()) == len(services.memory().nodes) == 2
            assert len(services.holdings()) <= len(clients)
            services.queues(9), services.decisions(50, None)
            await asyncio.sleep(0)

    asked = [asyncio.ensure_future(ask(number)) for number in range(12)]
    looking = asyncio.ensure_future(look())
    await asyncio.gather(*asked)
    asked.clear()
    await looking
    assert looked > 25
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
    assert world.dispatcher.at_rest()
