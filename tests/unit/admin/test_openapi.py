import json
from typing import Any

import msgspec

from pointsman.admin.openapi import document
from pointsman.admin.routes import ROUTES


def references(value: Any) -> set[str]:
    if isinstance(value, dict):
        found = {value["$ref"]} if "$ref" in value else set()
        return found.union(*map(references, value.values()))
    return set().union(*map(references, value)) if isinstance(value, list) else set()


def test_every_route_is_described() -> None:
    described = {(method.upper(), path) for path, item in document()["paths"].items() for method in item}
    assert described == {(route.method, route.path) for route in ROUTES}


def test_every_reference_leads_somewhere() -> None:
    paper = json.loads(msgspec.json.encode(document()))
    known = {f"#/components/schemas/{name}" for name in paper["components"]["schemas"]}
    assert references(paper) <= known
    assert references(paper)


def test_operations_have_names_of_their_own() -> None:
    names = [operation["operationId"] for item in document()["paths"].values() for operation in item.values()]
    assert len(set(names)) == len(names)


def test_query_and_path_parameters_are_told() -> None:
    paths = document()["paths"]
    assert [p["name"] for p in paths["/decisions"]["get"]["parameters"]] == ["n", "model"]
    assert paths["/nodes/{id}"]["delete"]["parameters"][0]["in"] == "path"
