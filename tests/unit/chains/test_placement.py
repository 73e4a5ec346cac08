"""GBP-CR."""

import pytest

from pointsman.chains.model import Infeasible, Server, Service
from pointsman.chains.placement import place


def test_the_worked_example(example_servers: list[Server], example_service: Service) -> None:
    stages = place(example_servers, example_service, reserved=1, rate=1.0, target_load=0.7)
    found = [(stage.server.name, stage.first, stage.count) for stage in stages]
    assert found == [("1", 1, 1), ("2", 2, 2), ("3", 1, 1), ("4", 2, 1), ("5", 3, 1)]


def test_chains_stop_when_they_serve_the_rate(example_servers: list[Server], example_service: Service) -> None:
    stages = place(example_servers, example_service, reserved=1, rate=0.2, target_load=0.7)  # 1/3.05 >= 0.2/0.7
    assert [stage.server.name for stage in stages] == ["1", "2"]


def test_the_last_server_of_a_chain_slides_left() -> None:
    servers = [Server(name, memory_gb=4.0, communication_s=1.0, block_s=1.0) for name in "ab"]
    stages = place(servers, Service(5, 1.0, 0.25), reserved=1, rate=9.0, target_load=0.7)
    assert [(stage.first, stage.end - 1) for stage in stages] == [(1, 3), (3, 5)]


def test_fast_per_block_comes_first_and_useless_servers_are_left_out() -> None:
    servers = [
        Server("slow", 10.0, 1.0, 2.0),
        Server("tiny", 0.5, 0.0, 0.1),
        Server("fast", 10.0, 1.0, 1.0),
    ]
    stages = place(servers, Service(5, 1.0, 0.1), reserved=1, rate=9.0, target_load=0.7)
    assert [stage.server.name for stage in stages] == ["fast", "slow"]


def test_what_does_not_fit_is_told_by_how_much() -> None:
    servers = [Server(name, memory_gb=3.0, communication_s=1.0, block_s=1.0) for name in "ab"]
    with pytest.raises(Infeasible, match=r"6 of 10 blocks fit on no server .* 2 jobs .*: at least 7.2 GB more"):
        place(servers, Service(10, 1.0, 0.1), reserved=2, rate=1.0, target_load=0.7)
