"""From one frozen tree to flags, files and values.

A command's settings are one `msgspec.Struct`: each field has a type, a default and a description. This module derives
the command-line flags from it, reads the TOML file, lays flags over the file over the defaults, and lets msgspec
validate the result. What is wrong is reported once, as file, key and what is allowed.
"""

import argparse
import difflib
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin

import msgspec
from msgspec import inspect

Settings = TypeVar("Settings", bound=msgspec.Struct)

_SCALARS = ((inspect.IntType, int), (inspect.FloatType, float), (inspect.StrType, str))
_PATH = re.compile(r" - at `\$\.?(?P<path>[^`]*)`")
_UNKNOWN = re.compile(r"unknown field `(?P<field>[^`]+)`")


class ConfigError(Exception):
    """A setting that cannot be used. The text names the source, the key and what is allowed."""


def add_flags(parser: argparse.ArgumentParser, tree: type[msgspec.Struct]) -> None:
    """Give `parser` one `--kebab-case` flag for each scalar or list field of `tree`; nested tables are for files."""
    for field in inspect.type_info(tree).fields:  # type: ignore[attr-defined]
        kind = _flag_kind(field.type)
        if kind is not None:
            _add_flag(parser, field, kind)


def load(tree: type[Settings], path: str | None, flags: dict[str, Any]) -> Settings:
    """Build `tree` from the TOML file at `path` (or nothing) under `flags` (those not None). Raises ConfigError."""
    raw = read_toml(path) if path else {}
    given = {key: value for key, value in flags.items() if value is not None}
    source = path or "the command line"
    return convert(raw | given, tree, source)


def convert(raw: dict[str, Any], tree: type[Settings], source: str) -> Settings:
    """Validate `raw` as `tree`; `source` names where it came from in errors. Raises ConfigError."""
    try:
        return msgspec.convert(raw, tree, strict=True)
    except msgspec.ValidationError as error:
        raise ConfigError(_explain(str(error), tree, source)) from None


def read_toml(path: str) -> dict[str, Any]:
    """The parsed file. Raises ConfigError when it is missing, unreadable or not TOML."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None


def _explain(message: str, tree: type[msgspec.Struct], source: str) -> str:
    where = _PATH.search(message)
    path = where["path"] if where else ""
    text = _PATH.sub("", message)
    unknown = _UNKNOWN.search(text)
    if unknown:
        allowed = _keys_at(tree, path)
        near = difflib.get_close_matches(unknown["field"], allowed, n=1)
        hint = f"did you mean `{near[0]}`? " if near else ""
        key = ".".join(part for part in (path, unknown["field"]) if part)
        return f"{source}: `{key}` is not a setting; {hint}allowed here: {', '.join(allowed)}"
    return f"{source}: `{path or 'settings'}`: {text[:1].lower()}{text[1:]}"


def _keys_at(tree: type[msgspec.Struct], path: str) -> list[str]:
    """The field names of the table that `path` (as in `nodes[...].limits`) points at within `tree`."""
    here: Any = inspect.type_info(tree)
    for part in filter(None, re.sub(r"\[[^\]]*\]", ".[]", path).split(".")):
        here = _step(here, part)
    return sorted(field.encode_name for field in getattr(_unwrap(here), "fields", ()))


def _step(here: Any, part: str) -> Any:
    here = _unwrap(here)
    if part == "[]":
        return getattr(here, "item_type", getattr(here, "value_type", here))
    for field in getattr(here, "fields", ()):
        if field.encode_name == part:
            return field.type
    return here


def _unwrap(kind: Any) -> Any:
    if isinstance(kind, inspect.Metadata):
        return _unwrap(kind.type)
    if isinstance(kind, inspect.UnionType):
        return next((_unwrap(t) for t in kind.types if not isinstance(t, inspect.NoneType)), kind)
    return kind


def _flag_kind(kind: Any) -> Any:
    """The innermost type when a flag can carry it, else None."""
    inner = _unwrap(kind)
    scalar = (inspect.IntType, inspect.FloatType, inspect.StrType, inspect.BoolType, inspect.LiteralType)
    if isinstance(inner, scalar):
        return inner
    listed = (inspect.ListType, inspect.VarTupleType)
    return inner if isinstance(inner, listed) and isinstance(_unwrap(inner.item_type), inspect.StrType) else None


def _add_flag(parser: argparse.ArgumentParser, field: inspect.Field, kind: Any) -> None:
    flag = "--" + field.encode_name.replace("_", "-")
    text = (_description(field.type) or "").replace("%", "%%") + _default_text(field)
    options: dict[str, Any] = {"dest": field.encode_name, "default": None, "help": text}
    if isinstance(kind, inspect.BoolType):
        options["action"] = argparse.BooleanOptionalAction
    elif isinstance(kind, inspect.LiteralType):
        options["choices"] = [value for value in kind.values if value is not None]
    elif isinstance(kind, inspect.ListType | inspect.VarTupleType):
        options |= {"action": "extend", "type": _parts, "metavar": "A,B,..."}
    else:
        parse = next(to for of, to in _SCALARS if isinstance(kind, of))
        options |= {"type": parse, "metavar": parse.__name__.upper()}
    parser.add_argument(flag, **options)


def _parts(text: str) -> list[str]:
    """`A,B` as two values; the flag may also be repeated."""
    return [part for part in text.split(",") if part]


def _description(kind: Any) -> str | None:
    if isinstance(kind, inspect.Metadata):
        schema = kind.extra_json_schema or {}
        return schema.get("description") or _description(kind.type)
    if isinstance(kind, inspect.UnionType):
        return next((text for t in kind.types if (text := _description(t))), None)
    return None


def _default_text(field: inspect.Field) -> str:
    default = field.default
    if default is msgspec.NODEFAULT or default is None or default in ((), "", False):
        return ""
    return f" (default: {', '.join(default) if isinstance(default, tuple | list) else default})"


def described(kind: Any) -> str:
    """The description of an `Annotated[...]` type, for generated reference pages."""
    if get_origin(kind) is Annotated:
        return next((m.description for m in get_args(kind)[1:] if getattr(m, "description", None)), "")
    return ""
