import pytest

from pointsman.brain.model.request import Request
from pointsman.brain.policies.registry import build
from pointsman.brain.policies.table import PolicyTable

DEFAULT, BY_MODEL, BY_ROUTE = (build(name) for name in ("round_robin", "two_choices", "least_requests"))


def request(model: str = "m", route: str = "") -> Request:
    return Request(id="r", model=model, route=route)


@pytest.fixture
def table() -> PolicyTable:
    return PolicyTable(DEFAULT, {"model:m": BY_MODEL, "route:/x": BY_ROUTE})


def test_the_route_stands_above_the_model_and_the_model_above_the_default(table: PolicyTable) -> None:
    assert table.of(request("m", "/x")) is BY_ROUTE
    assert table.of(request("m", "/y")) is BY_MODEL
    assert table.of(request("other")) is DEFAULT


def test_a_scope_is_dropped_by_none_even_twice(table: PolicyTable) -> None:
    table.put("model:m", None)
    table.put("model:m", None)
    assert table.of(request("m")) is DEFAULT


def test_the_default_is_changed_but_not_dropped(table: PolicyTable) -> None:
    table.put("default", BY_MODEL)
    assert table.of(request("other")) is BY_MODEL
    with pytest.raises(ValueError, match="not dropped"):
        table.put("default", None)


def test_another_kind_of_scope_is_refused_with_those_there_are(table: PolicyTable) -> None:
    with pytest.raises(ValueError, match="'default', 'model:NAME' and 'route:PATH'"):
        table.put("tenant:t", DEFAULT)
    assert set(table.scopes()) == {"default", "model:m", "route:/x"}
