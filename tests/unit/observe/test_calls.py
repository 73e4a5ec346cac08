from typing import Any, get_args

import msgspec
import pytest

from pointsman.brain.model.commands import Carried, Obeyed
from pointsman.brain.model.kv_events import CacheChange
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.model.outside import MemoryWish
from pointsman.brain.model.reports import ClientReport, NodeReport
from pointsman.brain.model.request import Chain, Request
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.model.sharing import Booked, Known, PeerReport, Sent
from pointsman.brain.policies.registry import POLICIES, build
from pointsman.observe import calls
from pointsman.observe.calls import Entry, PolicySpec, Started

LINK = 2**64 - 1

EXAMPLES = [
    calls.Begin("1", BrainSettings(seed=2), {"default": PolicySpec("jffc", {"w_load": 0.4})}, 0.1),
    calls.AddNode(NodeSpec(url="http://a", slots=4), 0.1),
    calls.DeclareNode(NodeSpec(url="http://a", slots=5), 0.1),
    calls.RemoveNode("a", 0.1),
    calls.Drain("a", 0.1),
    calls.Defragment(0.1),
    calls.Undrain("a", 0.1),
    calls.DrainWithin("a", 30.0, 0.1),
    calls.Interrupt(1, "preempt", 0.1),
    calls.SetWeight("a", 0.5, 0.1),
    calls.SetPolicy("default", PolicySpec("jffc", {"w_load": 0.4}), 0.1),
    calls.SetPolicy("model:m", None, 0.1),
    calls.Configure(BrainSettings(tries=3), 0.1),
    calls.Submit(Request(id="r", model="m", chain=Chain("bytes", [1, LINK], bytes_per_link=256)), 0.1),
    calls.Cancel(1, 0.1),
    calls.FirstToken(1, 0.1),
    calls.Tokens(1, 16, 0.1),
    calls.Finished(1, Outcome(verdict=Verdict.FAIL, reason="reset"), 0.1),
    calls.Report(NodeReport(node="a", ok=True, models=("m",)), 0.1),
    calls.KvEvent(CacheChange(node="a", came=[1 << 63], went=[2], cleared=True, whole=True, batches=1, lost=2), 0.1),
    calls.Feedback(ClientReport(request="r", tenant="t", good=False, reason="gibberish"), 0.1),
    calls.Warm(Request(id="r", model="m", chain=Chain("bytes", [1], bytes_per_link=256)), ("a",), 0.1),
    calls.Warmed(1, True, 0.1),
    calls.Pin(Request(id="r", model="m", chain=Chain("bytes", [1], bytes_per_link=256)), ("a",), 0.1),
    calls.Unpin(Request(id="r", model="m", chain=Chain("bytes", [1], bytes_per_link=256)), (), 0.1),
    calls.Obeyed(Obeyed(number=1, ok=True, done=(Carried(blocks=2),), lost=(LINK,)), 0.1),
    calls.Allocate(MemoryWish(model="m", prompt_tokens=100), 0.1),
    calls.Renew("1f", 60.0, 0.1),
    calls.Release("1f", 0.1),
    calls.Share(0.1),
    calls.Hear(
        PeerReport(
            gateways=2, counted=1, nodes={"a": Known(Booked(1, 2, 3, 4, 5), 6)}, sent=[Sent("a", b"\0\xff", 16.0)]
        ),
        0.1,
    ),
    calls.Tick(1e9 + 1 / 3),
]


def test_the_examples_are_all_calls() -> None:
    assert {type(example) for example in EXAMPLES} == set(get_args(calls.Call))


@pytest.mark.parametrize("call", EXAMPLES, ids=lambda call: type(call).__name__)
def test_a_call_survives_its_line_exactly(call: Any) -> None:
    entry = Entry(call, [Started(1, 2, "a")])
    assert msgspec.json.decode(msgspec.json.encode(entry), type=Entry) == entry


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_a_policy_survives_its_description(name: str) -> None:
    spec = PolicySpec.of(build(name))
    assert msgspec.json.decode(msgspec.json.encode(spec), type=PolicySpec).build() == build(name)


def test_a_wrapped_policy_keeps_its_parameters() -> None:
    session = build("session", {"within": {"policy": "jffc", "w_load": 0.4}})
    assert PolicySpec.of(session).build() == session
