"""Generated dialogues as the simulator's clients ask them."""

from tests.support.simulated import experiment

from pointsman.sim.experiment import run
from pointsman.sim.fleet import MODEL, NodeKind, nodes_of
from pointsman.sim.generated import models_of, session_demand
from pointsman.workload.presets import WORKLOADS


def test_a_dialogue_says_whose_it_is_and_how_it_asks() -> None:
    kinds = WORKLOADS["batch_and_chat"] + WORKLOADS["tenants"] + WORKLOADS["adapters"]
    dialogues = session_demand(1, 30.0, 120.0, 32_768, kinds).dialogues
    assert {(one.priority, one.plain) for one in dialogues} == {(1.0, 0.0), (0.25, 1.0)}
    tenants, models = {one.tenant for one in dialogues}, {one.model for one in dialogues}
    assert "" in tenants
    assert "tenants-0" in tenants
    assert models <= set(models_of(kinds))
    assert {MODEL, "adapters-0"} <= models


def test_the_description_names_the_clients() -> None:
    demand = session_demand(1, 3.0, 60.0, 32_768, WORKLOADS["batch_and_chat"])
    assert demand.description == "dialogues of chat and batch, closed loop, planned for 3.00 requests/s"


def test_engines_that_schedule_by_priority_serve_chat_before_batch() -> None:
    demand = session_demand(1, 14.0, 40.0, 32_768, WORKLOADS["batch_and_chat"])

    def chat_waits(scheduling_policy: str) -> float:
        nodes = nodes_of([NodeKind(name="n", max_num_seqs=24, scheduling_policy=scheduling_policy)])  # type: ignore[arg-type]
        what = experiment("round_robin", demand, nodes, seconds=40.0, warm_up=0.0)
        chat = next(one for one in run(what, lambda _second: None).clients if one.name == "chat")
        assert chat.ttft_p99_s is not None
        return chat.ttft_p99_s

    assert chat_waits("priority") < 0.5 * chat_waits("fcfs")
