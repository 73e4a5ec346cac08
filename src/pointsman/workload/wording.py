"""What is wrong with a line of a trace, in words, from what msgspec says of it."""

import re

_WHERE = re.compile(r"(?P<what>.*) - at `\$\.?(?P<field>[^`]*)`")
_KIND = re.compile(r"Expected `(?P<wanted>[^`]+)`, got `(?P<given>[^`]+)`")
_BOUND = re.compile(r"Expected `(?P<wanted>\w+)` (?P<sign>[<>]=?) (?P<bound>[-\d.e+]+)")
_MISSING = re.compile(r"Object missing required field `(?P<field>[^`]+)`")

_WORDS = {"int": "a whole number", "float": "a number", "str": "text", "bool": "true or false", "array": "a list"}
_SIGNS = {">=": "of at least", "<=": "up to", ">": "above", "<": "below"}


def in_words(error: Exception) -> str:
    """One sentence without its end: what must be, and what is there instead; other errors keep their own words."""
    text = str(error)
    missing = _MISSING.match(text)
    if missing:
        return f"{missing['field']} is missing"
    where = _WHERE.fullmatch(text)
    if not where or not where["field"] or where["field"].startswith("["):
        return where["what"] if where else text
    return f"{where['field']} {_wrong(where['what'])}"


def _wrong(what: str) -> str:
    kind, bound = _KIND.fullmatch(what), _BOUND.fullmatch(what)
    if kind:
        wanted = [_WORDS.get(each, each) for each in kind["wanted"].split(" | ") if each != "null"]
        return f"must be {' or '.join(wanted)}, not {_WORDS.get(kind['given'], kind['given'])}"
    if bound:
        what = _WORDS.get(bound["wanted"], bound["wanted"])
        return f"must be {what} {_SIGNS[bound['sign']]} {float(bound['bound']):g}"
    return f"cannot be read: {what[:1].lower()}{what[1:]}"
