"""From one frozen tree to flags, files and values.

A command's settings are one `msgspec.Struct`: each field has a type, a default and a description. This module derives
the command-line flags from it, reads the TOML file, lays flags over the file over the defaults, and lets msgspec
validate the result. What is wrong is reported once, as file, key and what is allowed.
"""

import argparse
import math
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, inspect

from pointsman.config.explain import explain, unwrap

# Kinds of text, as --help calls them.
Address = Annotated[str, Meta(extra={"metavar": "HOST:PORT"})]
Directory = Annotated[str, Meta(extra={"metavar": "DIRECTORY"})]
File = Annotated[str, Meta(extra={"metavar": "FILE"})]
Key = Annotated[str, Meta(extra={"metavar": "KEY"})]
Keys = Annotated[tuple[str, ...], Meta(extra={"metavar": "KEY,..."})]
Name = Annotated[str, Meta(extra={"metavar": "NAME"})]
Names = Annotated[tuple[str, ...], Meta(extra={"metavar": "NAME,..."})]
Networks = Annotated[tuple[str, ...], Meta(extra={"metavar": "NETWORK,..."})]
Paths = Annotated[tuple[str, ...], Meta(extra={"metavar": "PATH,..."})]
Recordings = Annotated[tuple[str, ...], Meta(extra={"metavar": "FILE", "positional": "yes"})]
Span = Annotated[float, Meta(ge=0, le=3600)]
Urls = Annotated[tuple[str, ...], Meta(extra={"metavar": "URL"})]

Settings = TypeVar("Settings", bound=msgspec.Struct)

_SCALARS = ((inspect.IntType, int, "N"), (inspect.FloatType, float, "NUMBER"), (inspect.StrType, str, "TEXT"))

_ITEMS = (inspect.StrType, inspect.FloatType, inspect.IntType)
"""What flags can list."""

COMMAND_LINE = "the command line"
_LARGEST = 2**63
_LEADING_KEY = re.compile(r"`?(?P<key>[a-z_]+)")


class ConfigError(Exception):
    """A setting that cannot be used. The text names the source, the key and what is allowed."""


def add_flags(parser: argparse.ArgumentParser, tree: type[msgspec.Struct]) -> None:
    """Give `parser` one `--kebab-case` flag for each scalar or list field of `tree`; nested tables are for files.

    A list whose type is told to be "positional" is given by arguments without a flag.
    """
    for field in inspect.type_info(tree).fields:  # type: ignore[attr-defined]
        kind = _flag_kind(field.type)
        if kind is not None:
            _add_flag(parser, field, kind)


def load(tree: type[Settings], path: str | None, flags: dict[str, Any]) -> Settings:
    """Build `tree` from the TOML file at `path` (or nothing) under `flags` (those not None). Raises ConfigError."""
    raw = read_toml(path) if path else {}
    if path:
        convert(raw, tree, path)  # alone first, so that what is wrong is told of where it stands
    given = {key: value for key, value in flags.items() if value is not None}
    return convert(raw | given, tree, COMMAND_LINE)


def source_of(message: str, path: str | None, flags: dict[str, Any]) -> str:
    """Where the setting stands that `message` begins with: the file at `path`, or the command line."""
    key = _LEADING_KEY.match(message)
    flagged = key is not None and flags.get(key["key"]) is not None
    return path if path and not flagged else COMMAND_LINE


def convert(raw: dict[str, Any], tree: type[Settings], source: str) -> Settings:
    """Validate `raw` as `tree`; `source` names where it came from in errors. Raises ConfigError."""
    for key in _endless(raw):
        raise ConfigError(f"{source}: `{key}` must be a finite number, and one of 64 bits if it is whole")
    try:
        return msgspec.convert(raw, tree, strict=True)
    except msgspec.ValidationError as error:
        raise ConfigError(explain(str(error), tree, source)) from None


def read_toml(path: str) -> dict[str, Any]:
    """The parsed file. Raises ConfigError when it is missing, unreadable or not TOML."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None


def _endless(value: Any, path: str = "") -> Iterator[str]:
    """The paths of NaN, infinity and numbers of more than 64 bits, which can be written and no setting means."""
    if isinstance(value, float | int) and not (
        math.isfinite(value) and (type(value) is float or abs(value) < _LARGEST)
    ):
        yield path
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _endless(each, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _endless(each, f"{path}[{index}]")


def _flag_kind(kind: Any) -> Any:
    """The innermost type when a flag can carry it, else None."""
    inner = unwrap(kind)
    scalar = (inspect.IntType, inspect.FloatType, inspect.StrType, inspect.BoolType, inspect.LiteralType)
    if isinstance(inner, scalar):
        return inner
    listed = isinstance(inner, inspect.ListType | inspect.VarTupleType)
    return inner if listed and isinstance(unwrap(inner.item_type), _ITEMS) else None


def _add_flag(parser: argparse.ArgumentParser, field: inspect.Field, kind: Any) -> None:
    flag = "--" + field.encode_name.replace("_", "-")
    text = (_told(field.type, "description") or "").replace("%", "%%") + _default_text(field)
    options: dict[str, Any] = {"dest": field.encode_name, "default": None, "help": text}
    named = _told(field.type, "metavar")
    if _told(field.type, "positional"):
        name, absent = field.encode_name, argparse.SUPPRESS  # a list of none would override the file's
        parser.add_argument(name, nargs="*", default=absent, metavar=named, help=text)
        return
    if isinstance(kind, inspect.BoolType):
        switch = {"action": "store_const", "const": True}
        options |= {"action": argparse.BooleanOptionalAction} if field.default else switch
    elif isinstance(kind, inspect.LiteralType):
        options["choices"] = [value for value in kind.values if value is not None]
    elif isinstance(kind, inspect.ListType | inspect.VarTupleType):
        parse, usual = next(told for of, *told in _LISTS if isinstance(unwrap(kind.item_type), of))
        options |= {"action": "extend", "type": parse, "metavar": named or usual}
    else:
        parse, usual = next((to, name) for of, to, name in _SCALARS if isinstance(kind, of))
        options |= {"type": parse, "metavar": named or usual}
    parser.add_argument(flag, **options)


def _parts(text: str) -> list[str]:
    """`A,B` as two values; the flag may also be repeated."""
    return [part for part in text.split(",") if part]


def numbers(text: str) -> list[float]:
    """`0.3,1` as two numbers. Raises ArgumentTypeError."""
    try:
        return [float(part) for part in _parts(text)]
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected numbers with commas between them, got {text!r}") from None


def whole_numbers(text: str) -> list[int]:
    """`3,10` as two whole numbers. Raises ValueError; argparse then names this function as what was expected."""
    return [int(part) for part in _parts(text)]


_LISTS = (
    (inspect.FloatType, numbers, "NUMBER,..."),
    (inspect.IntType, whole_numbers, "N,..."),
    (inspect.StrType, _parts, "A,B,..."),
)


def _told(kind: Any, what: str) -> str | None:
    """The "description", "metavar" or "positional" (`Meta(extra=...)`) that an annotation gives to a type."""
    if isinstance(kind, inspect.Metadata):
        told = (kind.extra_json_schema or {}) | (kind.extra or {})
        return told.get(what) or _told(kind.type, what)
    if isinstance(kind, inspect.UnionType):
        return next((text for t in kind.types if (text := _told(t, what))), None)
    return None


def _default_text(field: inspect.Field) -> str:
    default = field.default
    if default is msgspec.NODEFAULT or default is None or default is False or default in ((), ""):
        return ""
    return f" (default: {', '.join(map(str, default)) if isinstance(default, tuple | list) else default})"
