"""The page of settings, from the frozen trees that flags and files are validated by."""

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import msgspec
from markdown import code, table
from msgspec import inspect as types

_HEAD = """# Configuration

Each command reads its settings from its flags, then from the TOML file named by `--config` where it has one, then from
the defaults below. A flag is the key with dashes: `node_key` is `--node-key`; tables are for the file. A wrong
key or value stops the start and is told with the file, the key and what is allowed.

How long things may take stands in two tables of `serve`: what passes between sockets in
[`[timeouts]`](#timeouts), what the decisions wait for, such as a place in the queue or a first token, in
[`[brain]`](#brain).

"""

_WORDS = {
    types.IntType: "whole number",
    types.FloatType: "number",
    types.StrType: "text",
    types.BoolType: "true, false",
}
TREES = (
    ("pointsman serve", "pointsman.config.serve", "ServeConfig"),
    ("pointsman engine", "pointsman.engine.settings", "EngineConfig"),
    ("pointsman demo", "pointsman.config.demo", "DemoConfig"),
    ("pointsman replay", "pointsman.config.replay", "ReplayConfig"),
    ("pointsman sim", "pointsman.config.sim", "SimConfig"),
    ("pointsman sim run", "pointsman.config.sim", "RunConfig"),
    ("pointsman sim compare", "pointsman.config.compare", "CompareConfig"),
    ("pointsman sim sweep", "pointsman.config.sweep", "SweepConfig"),
    ("pointsman plan chains", "pointsman.config.plan", "ChainsConfig"),
)


def page() -> str:
    """Markdown."""
    told: dict[type, str] = {}
    return _HEAD + "\n".join(_command(*tree, told) for tree in TREES)


def _command(command: str, module: str, name: str, told: dict[type, str]) -> str:
    """Settings that a tree has in common with another, of which it is a kind, are left to that one's table.

    `told`: where each tree and table stands; mutated.
    """
    tree = getattr(importlib.import_module(module), name)
    base = next((base for base in tree.__mro__[1:] if base in told), None)
    text = f"## {command}\n\n{_description(tree)}"
    if base is not None:
        text += f"Besides these, it has all settings of {told[base]}.\n\n"
    text += "".join(_tables(tree, "", told, command, base))
    told[tree] = code(command)
    return text


def _description(tree: type) -> str:
    return (inspect.getdoc(tree) or "") + "\n\n"


def _tables(
    tree: type[msgspec.Struct], path: str, told: dict[type, str], command: str, base: type | None = None
) -> Iterator[str]:
    """The tree's own table of keys, then one for each table nested in it, unless that has been told before."""
    known = {field.name: field for field in types.type_info(base).fields} if base else {}
    fields = [
        (field, *_unwrapped(field.type)) for field in types.type_info(tree).fields if known.get(field.name) != field
    ]
    rows = [_row(field, kind, text) for field, kind, text in fields if _nested(kind) is None]
    if rows:
        yield table(("key", "type", "default", "meaning"), rows) + "\n"
    for field, kind, text in fields:
        nested = _nested(kind)
        if nested is not None:
            where = _heading(path, field.encode_name, kind)
            if nested in told:
                yield f"`{where}` takes the keys of {told[nested]}.\n\n"
                continue
            told[nested] = f"`{where}`, {code(command)}"
            yield f"### `{where}`\n\n{text + '. ' if text else ''}{_description(nested)}"
            yield from _tables(nested, where.strip("[]"), told, command)


def _heading(path: str, key: str, kind: types.Type) -> str:
    where = f"{path}.{key}" if path else key
    if isinstance(kind, types.DictType):
        where += ".NAME"
    return f"[[{where}]]" if isinstance(kind, types.ListType | types.VarTupleType) else f"[{where}]"


def _row(field: types.Field, kind: types.Type, text: str) -> tuple[str, str, str, str]:
    return code(field.encode_name), _type(kind), _default(field), text


def _unwrapped(kind: types.Type) -> tuple[types.Type, str]:
    """The type below its annotations, and the description found on the way."""
    text = ""
    while isinstance(kind, types.Metadata):
        text = text or (kind.extra_json_schema or {}).get("description", "")
        kind = kind.type
    if isinstance(kind, types.UnionType) and not text:
        text = next((inner for each in kind.types if (inner := _unwrapped(each)[1])), "")
    return kind, text


def _nested(kind: types.Type) -> type[msgspec.Struct] | None:
    kind = _unwrapped(kind)[0]
    if isinstance(kind, types.StructType):
        return kind.cls
    if isinstance(kind, types.UnionType):
        return next((cls for each in kind.types if (cls := _nested(each))), None)
    if isinstance(kind, types.ListType | types.VarTupleType):
        return _nested(kind.item_type)
    return _nested(kind.value_type) if isinstance(kind, types.DictType) else None


def _type(kind: types.Type) -> str:
    kind = _unwrapped(kind)[0]
    if isinstance(kind, types.UnionType):
        return " or ".join(_type(each) for each in kind.types if not isinstance(each, types.NoneType))
    if isinstance(kind, types.LiteralType):
        return ", ".join(code(str(value)) for value in kind.values)
    if isinstance(kind, types.ListType | types.VarTupleType):
        return f"list of {_type(kind.item_type)}"
    words = {
        types.IntType: "whole number",
        types.FloatType: "number",
        types.StrType: "text",
        types.BoolType: "true, false",
    }
    return words.get(type(kind), "table" if isinstance(kind, types.DictType) else "any") + _bounds(kind)


def _bounds(kind: types.Type) -> str:
    signs = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}
    found = [f"{sign} {getattr(kind, key):g}" for key, sign in signs.items() if getattr(kind, key, None) is not None]
    return f" {', '.join(found)}" if found else ""


def _default(field: types.Field) -> str:
    value: Any = field.default
    if value is msgspec.NODEFAULT:
        value = field.default_factory() if field.default_factory is not msgspec.NODEFAULT else "required"
        if value == "required":
            return value
    if value is None:
        return "unset"
    if value in ("", (), [], {}):
        return "empty"
    if isinstance(value, bool):
        return code(str(value).lower())
    return ", ".join(map(code, value)) if isinstance(value, tuple | list) else code(str(value))
