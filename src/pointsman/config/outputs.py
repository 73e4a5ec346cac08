"""Files that a command leaves behind: whether they could be written is known before the work, not after it."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from pointsman.config.flags import ConfigError


def check_output(path: str, key: str) -> None:
    """Whether a file could be written at `path`; what is there stays. `key`: its setting. Raises ConfigError."""
    if Path(path).exists() and not Path(path).is_file():
        raise ConfigError(f"`{key}`: {path}: exists and is not a file")
    _beside(path, "", key).unlink()


def check_apart(outputs: Mapping[str, str], read: Iterable[str] = ()) -> None:
    """Whether each file is written by one of the settings, and is none that is `read`. Raises ConfigError."""
    sources, taken = {Path(path).resolve() for path in read if path}, dict[Path, str]()
    for key, path in outputs.items():
        whole = Path(path).resolve()
        if path and whole in sources:
            raise ConfigError(f"`{key}`: {path}: is read by this command, and would be overwritten")
        if path and taken.setdefault(whole, key) != key:
            raise ConfigError(f"`{key}`: {path}: `{taken[whole]}` is written there already")


def earlier_output(path: str, key: str) -> bytes | None:
    """What an earlier run left at `path`; None if nothing. Raises ConfigError."""
    try:
        return Path(path).read_bytes() if Path(path).exists() else None
    except OSError as error:
        raise ConfigError(f"`{key}`: {path}: {error.strerror}") from None


def put_output(path: str, text: str, key: str) -> None:
    """Put `text` in the place of what is there, at once and only when it is whole. Raises ConfigError."""
    _beside(path, text, key).replace(Path(path).resolve())


def _beside(path: str, text: str, key: str) -> Path:
    whole = Path(path).resolve()
    part = whole.with_name(f"{whole.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"`{key}`: {path}: {error.strerror}") from None
    return part
