"""The page of the admin API, from its description."""

from typing import Any

import msgspec
from markdown import code, table

from pointsman.admin.openapi import document
from pointsman.admin.routes import PAGES

_HEAD = """# Admin API

On the admin port (9080, loopback by default). Bodies and answers are JSON; a body must say so
(`content-type: application/json`). An error is `{"error": {"message": ..., "code": ...}}` and says what is allowed. An
id in a path may be an address; characters that a path cannot hold are percent-encoded. `/openapi.json` describes all of
this for programs.

"""


def page() -> str:
    """Markdown."""
    paper = msgspec.json.decode(msgspec.json.encode(document()))
    schemas = paper["components"]["schemas"]
    rows = [("GET", code(path), text, "", "text") for path, text in PAGES.items()]
    rows += [_row(method, path, each) for path, item in paper["paths"].items() for method, each in item.items()]
    text = _HEAD + table(("method", "path", "does", "takes", "answers"), rows) + "\n## Values\n"
    return text + "".join(_section(name, schemas[name]) for name in sorted(schemas))


def _row(method: str, path: str, operation: dict[str, Any]) -> tuple[str, str, str, str, str]:
    takes = [code("?" + p["name"]) for p in operation["parameters"] if p["in"] == "query"]
    if "requestBody" in operation:
        takes.append(_type(_schema(operation["requestBody"])))
    (status, answer), *_ = operation["responses"].items()
    answers = _type(_schema(answer)) if "content" in answer else "nothing"
    return method.upper(), code(path), operation["summary"], ", ".join(takes), f"{status}: {answers}"


def _schema(part: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = part["content"]["application/json"]["schema"]
    return schema


def _section(name: str, schema: dict[str, Any]) -> str:
    required = schema.get("required", [])
    rows = [
        (code(key), _type(each), "required" if key in required else _default(each), each.get("description", ""))
        for key, each in schema.get("properties", {}).items()
    ]
    about = schema.get("description", "")
    return f"\n### {name}\n\n{about}\n\n" + table(("field", "type", "default", "meaning"), rows)


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(code(str(value)) for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}" if "items" in schema else "list"
    return str(schema.get("type", "any"))


def _default(schema: dict[str, Any]) -> str:
    value = schema.get("default")
    return "" if value in (None, "", [], {}) else code(str(value))
