"""Where settings come from, so that they can be read again: a file, and the flags above it."""

from dataclasses import dataclass
from typing import Any, Generic

from pointsman.config.flags import Settings, load, source_of


@dataclass(frozen=True, slots=True)
class Source(Generic[Settings]):
    """`tree` is the type of the settings, `path` their file if there is one, `flags` those given (not None)."""

    tree: type[Settings]
    path: str | None
    flags: dict[str, Any]

    def read(self) -> Settings:
        """The settings as they are now. Raises ConfigError, which names file or command line."""
        return load(self.tree, self.path, self.flags)

    def named(self, error: Exception) -> str:
        """The text of an error over a setting, with the place where that stands in front."""
        return f"{source_of(str(error), self.path, self.flags)}: {error}"
