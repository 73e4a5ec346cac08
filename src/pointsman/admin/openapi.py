"""The API's description, made from the table of routes and the types of its values."""

from typing import Any

import msgspec

import pointsman
from pointsman.admin.routes import ROUTES, Route
from pointsman.admin.values import Error

_REFERENCE = "#/components/schemas/{name}"


def document() -> dict[str, Any]:
    """An OpenAPI 3.1 document of every route."""
    types = [kind for route in ROUTES for kind in (route.answer, route.body) if kind is not None]
    schemas, components = msgspec.json.schema_components([Error, *types], ref_template=_REFERENCE)
    schema_of = dict(zip(map(repr, [Error, *types]), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Pointsman admin API", "version": pointsman.__version__},
        "paths": paths,
        "components": {"schemas": components},
    }


def _operation(route: Route, schema_of: dict[str, Any]) -> dict[str, Any]:
    content = {"content": _json(schema_of[repr(route.answer)])} if route.answer is not None else {}
    operation: dict[str, Any] = {
        "operationId": route.handler.__name__.strip("_"),
        "summary": route.summary,
        "parameters": _parameters(route),
        "responses": {
            str(route.status): {"description": "as asked", **content},
            "default": {"description": "an error", "content": _json(schema_of[repr(Error)])},
        },
    }
    if route.body is not None:
        operation["requestBody"] = {"required": True, "content": _json(schema_of[repr(route.body)])}
    return operation


def _parameters(route: Route) -> list[dict[str, Any]]:
    found = []
    if "{id}" in route.path:
        found.append({"name": "id", "in": "path", "required": True, "schema": {"type": "string"}})
    if route.query is not None:
        components = msgspec.json.schema(route.query)["$defs"][route.query.__name__]
        for name, schema in components["properties"].items():
            found.append({"name": name, "in": "query", "required": False, "schema": schema})
    return found


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
