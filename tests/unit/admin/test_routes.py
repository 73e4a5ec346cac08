from pointsman.admin.routes import ROUTES


def test_no_route_stands_twice() -> None:
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)


def test_only_changes_have_bodies_and_only_what_ends_something_has_no_answer() -> None:
    assert {route.method for route in ROUTES if route.body} == {"POST", "PATCH", "PUT"}
    assert {route.path for route in ROUTES if route.answer is None} == {"/nodes/{id}", "/cache/release"}
