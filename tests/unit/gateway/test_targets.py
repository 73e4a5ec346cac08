"""Targets follow the nodes and the settings there are."""

import asyncio
from typing import cast

import pytest

from pointsman.brain.model.node import NodeSpec
from pointsman.clock import ManualClock
from pointsman.gateway.deadlines import Deadlines
from pointsman.gateway.settings import Limits, Timeouts
from pointsman.gateway.targets import Targets

ONE = NodeSpec(url="http://a:1/base", id="one")
RANKS = [NodeSpec(url="http://b:2", rank=rank) for rank in range(2)]


@pytest.fixture
def targets() -> Targets:
    clock = ManualClock()
    deadlines = Deadlines(cast(asyncio.AbstractEventLoop, None), clock)
    return Targets(clock, deadlines, Timeouts(), Limits(), "key")


def test_a_target_says_what_is_the_nodes_own(targets: Targets) -> None:
    assert targets.of(ONE).prefix == b"/base"
    assert targets.of(ONE).lines == b"host: a:1\r\nauthorization: Bearer key\r\n"
    assert targets.of(RANKS[1]).lines.endswith(b"x-data-parallel-rank: 1\r\n")
    assert targets.of(ONE) is targets.of(ONE)


def test_ranks_behind_one_address_share_their_connections_until_the_last_is_gone(targets: Targets) -> None:
    first, second = (targets.of(node) for node in RANKS)
    assert first.pool is second.pool
    targets.keep([ONE, RANKS[1]])
    assert targets.of(RANKS[0]).pool is first.pool
    targets.keep([ONE])
    assert targets.of(RANKS[0]).pool is not first.pool


def test_a_node_that_changes_its_id_keeps_its_connections(targets: Targets) -> None:
    pool = targets.of(ONE).pool
    targets.keep([NodeSpec(url=ONE.url, id="other")])
    assert targets.of(ONE).pool is pool


def test_another_key_is_shown_from_then_on_over_the_same_connections(targets: Targets) -> None:
    before = targets.of(ONE)
    targets.configure(Timeouts(), Limits(), "new")
    assert b"Bearer new\r\n" in targets.of(ONE).lines
    assert b"Bearer key\r\n" in before.lines
    assert targets.of(ONE).pool is before.pool
    targets.configure(Timeouts(), Limits(), "")
    assert b"authorization" not in targets.of(ONE).lines
