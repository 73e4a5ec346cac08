"""Who knows what became of a request: a gateway that runs, or the journal of one, whose decisions are made again."""

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable
from http.client import HTTPException

import msgspec

from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.facts import Fact
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.policies.table import PolicyTable
from pointsman.config.flags import ConfigError
from pointsman.observe.chapters import Story
from pointsman.observe.decisions import Decisions
from pointsman.observe.replay import JournalError, replay
from pointsman.observe.stories import Stories

TIMEOUT_S = 10.0


class Unknown(Exception):
    """Nobody knows of the request, or nobody could be asked. The text says what to do."""


def from_gateway(admin: str, request_id: str) -> list[Story]:
    """What the gateway with that admin address remembers. Raises Unknown, ConfigError."""
    url = f"{admin if '//' in admin else f'http://{admin}'}/decisions/{urllib.parse.quote(request_id, safe='')}"
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
            return msgspec.json.decode(answer.read(), type=list[Story])
    except urllib.error.HTTPError as error:
        raise Unknown(_said(error)) from None
    except (OSError, HTTPException) as error:
        why = getattr(error, "reason", error)
        raise Unknown(f"no gateway answers at {admin} ({why}); name its admin port with --admin HOST:PORT") from None
    except (ValueError, msgspec.MsgspecError) as error:
        raise ConfigError(f"`admin`: {admin} is no admin port of this version: {error}") from None


def from_journal(lines: Iterable[bytes], request_id: str, name: str) -> list[Story]:
    """What the journal's calls lead to, made again. Raises Unknown, and ConfigError for what is no journal."""
    runs: list[Stories] = []

    def make(settings: BrainSettings, policies: PolicyTable, now: float) -> Dispatcher:
        def observe(fact: Fact) -> None:
            request = getattr(fact, "request", None)
            if request is not None and request.id == request_id:
                decisions(fact)
                stories(fact)

        dispatcher = Dispatcher(settings, policies, [observe], now)
        decisions = Decisions(dispatcher.fleet)
        stories = Stories(dispatcher.fleet, decisions, lambda: dispatcher.settings.order)
        runs.append(stories)
        return dispatcher

    try:
        replay(lines, make)
    except JournalError as error:
        raise ConfigError(f"`journal`: {name}: {error}") from None
    found = [story for run in runs for story in run.of(request_id)]
    if not found:
        raise Unknown(f"{name} has no request {request_id!r}")
    return found


def _said(error: urllib.error.HTTPError) -> str:
    """What an admin port says of the failure, as text."""
    try:
        return str(json.loads(error.read())["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return f"{error.url} answers {error.code} {error.reason}: it is no admin port of a gateway"
