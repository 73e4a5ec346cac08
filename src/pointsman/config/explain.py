"""What is wrong with a setting, in words: where it stands, what is allowed there, and what was probably meant.

msgspec says what failed in its own words and as a path (`Expected `float` <= 2.0 - at `$.load``). The path leads
through the type of the settings to what is allowed; the words are replaced by those people use.
"""

import difflib
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import inspect

_PATH = re.compile(r" - at `\$\.?(?P<path>[^`]*)`")
_UNKNOWN = re.compile(r"unknown field `(?P<field>[^`]+)`")
_MISSING = re.compile(r"missing required field `(?P<field>[^`]+)`")
_CHOICE = re.compile(r"Invalid enum value (?P<given>.+)")
_BOUND = re.compile(r"Expected `(?P<kind>\w+)`(?P<length> of length)? (?P<sign>[<>]=?) (?P<bound>[-\d.e+]+)")
_FORM = re.compile(r"Expected `str` matching regex .+")
_KIND = re.compile(r"Expected `(?P<kind>[^`]+)`, got `(?P<given>[^`]+)`")

_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
}
_COUNTS = {">=": "at least", "<=": "no more than"}
_SIGNS = {">=": "of at least", "<=": "up to", ">": "above", "<": "below"}


def explain(message: str, tree: type[msgspec.Struct], source: str) -> str:
    """One line on the failure that `message` (of a ValidationError) tells of, for settings read from `source`."""
    where = _PATH.search(message)
    path = where["path"] if where else ""
    text = _PATH.sub("", message)
    unknown, missing = _UNKNOWN.search(text), _MISSING.search(text)
    if unknown:
        return f"{source}: `{_key(path, unknown['field'])}` {_unknown(tree, path, unknown['field'])}"
    if missing:
        return f"{source}: `{_key(path, missing['field'])}` is missing"
    return f"{source}: `{path or 'settings'}` {_wrong(text, tree, path)}"


def unwrap(kind: Any) -> Any:
    """The type below annotations and `| None`."""
    if isinstance(kind, inspect.Metadata):
        return unwrap(kind.type)
    if isinstance(kind, inspect.UnionType):
        return next((unwrap(t) for t in kind.types if not isinstance(t, inspect.NoneType)), kind)
    return kind


def _key(path: str, field: str) -> str:
    return f"{path}.{field}" if path else field


def _unknown(tree: type[msgspec.Struct], path: str, field: str) -> str:
    allowed = sorted(name for name, kind in _fields(_at(tree, path)).items() if not _schema(kind).get("readOnly"))
    elsewhere = [where for where in _tables(tree) if field in _fields(_at(tree, where))]
    near = [_key(elsewhere[0], field)] if elsewhere else _near(field, allowed)
    hint = f"did you mean `{near[0]}`? " if near else ""
    return f"is not a setting; {hint}allowed here: {', '.join(allowed)}"


def _wrong(text: str, tree: type[msgspec.Struct], path: str) -> str:
    choice, bound, kind = (pattern.fullmatch(text) for pattern in (_CHOICE, _BOUND, _KIND))
    if choice:
        values = getattr(unwrap(_at(tree, path)), "values", ())
        return f"cannot be {choice['given']}; allowed are: {', '.join(map(str, values))}"
    if bound and bound["length"] and bound["kind"] == "array":
        return f"takes {_COUNTS[bound['sign']]} {float(bound['bound']):g}"
    if bound:
        what = _WORDS.get(bound["kind"], bound["kind"]) + (" of a length" if bound["length"] else "")
        return f"must be {what} {_SIGNS[bound['sign']]} {float(bound['bound']):g}"
    if kind:
        wanted = [_WORDS.get(each, each) for each in kind["kind"].split(" | ") if each != "null"]
        given = _WORDS.get(kind["given"], kind["given"])
        return f"must be {' or '.join(wanted)}, not {given}{_table_meant(tree, path, kind['given'])}"
    if _FORM.fullmatch(text):
        return _form(tree, path)
    return f"cannot be used: {text[:1].lower()}{text[1:]}"


def _form(tree: type[msgspec.Struct], path: str) -> str:
    """What a text of a given form is, by the description of the key."""
    told = _description(_at(tree, path))
    return f"has not the form that it needs{f': {told}' if told else ''}"


def _description(kind: Any) -> str:
    """That of the outermost annotation that has one, empty if none has."""
    if not isinstance(kind, inspect.Metadata):
        return ""
    return str(_schema(kind).get("description", "")) or _description(kind.type)


def _schema(kind: Any) -> dict[str, Any]:
    """What the outermost annotation adds to the JSON schema; `readOnly` marks what is made of other settings."""
    return (kind.extra_json_schema or {}) if isinstance(kind, inspect.Metadata) else {}


def _table_meant(tree: type[msgspec.Struct], path: str, given: str) -> str:
    """The hint to `[[nodes]]` where somebody wrote `[nodes]`, or `[[node]]` and both are keys."""
    key = path.partition("[")[0]
    fields = _fields(inspect.type_info(tree))
    tables = [name for name, kind in fields.items() if _fields(getattr(unwrap(kind), "item_type", None))]
    if given == "object" and path in tables:
        return f"; write `[[{path}]]`"
    if given != "array" and not (given == "object" and path.endswith("]")):
        return ""
    near = _near(key, [name for name in tables if name != key])
    return f"; did you mean `[[{near[0]}]]`?" if near else ""


def _tables(tree: type[msgspec.Struct]) -> Iterator[str]:
    """Paths of the settings' one table of scalars, the top (""), and of those right below it."""
    yield ""
    yield from (name for name, kind in _fields(inspect.type_info(tree)).items() if _fields(kind))


def _at(tree: type[msgspec.Struct], path: str) -> Any:
    """The type that `path` (as in `nodes[...].limits`) points at within `tree`."""
    here: Any = inspect.type_info(tree)
    for part in filter(None, re.sub(r"\[[^\]]*\]", ".[]", path).split(".")):
        here = unwrap(here)
        if part == "[]":
            here = getattr(here, "item_type", getattr(here, "value_type", here))
        else:
            here = _fields(here).get(part, here)
    return here


def _fields(kind: Any) -> dict[str, Any]:
    """The types of the keys of a table, by key; empty for what is no table."""
    return {field.encode_name: field.type for field in getattr(unwrap(kind), "fields", ())}


def _near(given: str, known: Iterable[str]) -> list[str]:
    return difflib.get_close_matches(given, list(known), n=1)
