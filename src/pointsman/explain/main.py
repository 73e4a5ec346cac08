"""The command: ask a running gateway or a journal, and tell what it remembers."""

from rich.console import Console

from pointsman.config.replay import ReplayConfig, recorded
from pointsman.config.story import ExplainConfig, asked_id
from pointsman.explain.sources import Unknown, from_gateway, from_journal
from pointsman.explain.tell import tell
from pointsman.observe.command_output import write_json


def main(config: ExplainConfig) -> int:
    """Tell the story; returns 0, or 1 where nobody knows of the request. Raises ConfigError."""
    request_id = asked_id(config)
    try:
        if config.journal:
            with recorded(ReplayConfig(journal=config.journal)) as lines:
                stories = from_journal(lines, request_id, config.journal)
        else:
            stories = from_gateway(config.admin, request_id)
    except Unknown as error:
        Console(stderr=True, highlight=False).print(f"pointsman explain: {error}", markup=False, soft_wrap=True)
        return 1
    if config.json:
        write_json(stories)
    else:
        tell(stories, Console(highlight=False))
    return 0
