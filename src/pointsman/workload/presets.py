"""Workloads under names."""

import msgspec

from .kinds import ClientKind
from .laws import Arrivals
from .lengths import Lengths
from .sessions import ASSISTANT

_ASSISTANT = ClientKind(name="assistant", **msgspec.structs.asdict(ASSISTANT))
_CHAT = ClientKind(
    name="chat",
    system_prompts=4,
    system=Lengths(median=400, sigma=0.5, least=64, most=1500),
    opening=Lengths(median=120, sigma=0.9, tail_share=0.05, least=8, most=4000),
    follow_up=Lengths(median=60, sigma=0.8, tail_share=0.05, least=4, most=2000),
    output=Lengths(median=220, sigma=0.7, tail_share=0.05, least=4, most=1500),
    turns_mean=4.0,
    turns_most=20,
    think_mean_s=15.0,
)
_AGENTS = ClientKind(
    name="agents",
    system_prompts=6,
    system=Lengths(median=6000, sigma=0.4, least=2000, most=12_000),
    opening=Lengths(median=800, sigma=0.8, least=32, most=8000),
    follow_up=Lengths(median=500, sigma=1.0, tail_share=0.1, least=16, most=8000),
    output=Lengths(median=90, sigma=0.7, tail_share=0.05, least=8, most=1200),
    turns_mean=12.0,
    turns_most=40,
    think_mean_s=2.0,
)
_REASONING = ClientKind(
    name="reasoning",
    system_prompts=2,
    system=Lengths(median=300, sigma=0.3, least=64, most=800),
    opening=Lengths(median=400, sigma=0.9, tail_share=0.05, least=16, most=8000),
    follow_up=Lengths(median=150, sigma=0.8, least=8, most=2000),
    output=Lengths(median=2500, sigma=0.8, tail_share=0.05, least=200, most=16_000),
    turns_mean=1.5,
    turns_most=6,
    think_mean_s=30.0,
)
_LONG = ClientKind(
    name="long",
    share=0.03,
    system_prompts=2,
    system=Lengths(median=800, sigma=0.3, least=200, most=2000),
    opening=Lengths(median=24_000, sigma=0.4, least=12_000, most=90_000),
    follow_up=Lengths(median=200, sigma=0.6, least=16, most=1000),
    output=Lengths(median=300, sigma=0.6, least=32, most=1500),
    turns_mean=1.5,
    turns_most=4,
    think_mean_s=20.0,
)
_BATCH = ClientKind(
    name="batch",
    share=0.5,
    plain=1.0,
    priority=0.25,
    engine_priority=1,
    system_prompts=1,
    system=Lengths(median=600, sigma=0.0),
    opening=Lengths(median=1500, sigma=0.5, least=64, most=8000),
    output=Lengths(median=400, sigma=0.5, least=16, most=2000),
    turns_mean=1.0,
    arrivals=Arrivals(law="modulated", levels=(0.0, 2.0), dwell_s=30.0),
)
_IMAGES = ClientKind(
    name="images",
    plain=1.0,
    system_prompts=0,
    opening=Lengths(median=576, sigma=0.0),
    output=Lengths(median=1, sigma=0.0),
    turns_mean=1.0,
)


def _changed(kind: ClientKind, **changes: object) -> tuple[ClientKind, ...]:
    return (msgspec.structs.replace(kind, **changes),)


WORKLOADS: dict[str, tuple[ClientKind, ...]] = {
    "assistant": (_ASSISTANT,),
    "chat": (_CHAT,),
    "agents": (_AGENTS,),
    "reasoning": (_REASONING,),
    "tenants": _changed(_CHAT, name="tenants", tenants=100, system_prompts=2, arrivals=Arrivals(law="gamma", cv=1.2)),
    "long_minority": (msgspec.structs.replace(_CHAT, share=0.97), _LONG),
    "images": (_IMAGES,),
    "batch_and_chat": (msgspec.structs.replace(_CHAT, share=0.5), _BATCH),
    "adapters": _changed(_CHAT, name="adapters", adapters=24, system_prompts=1),
    "bursts": _changed(_CHAT, name="bursts", arrivals=Arrivals(law="modulated")),
    "ramp": _changed(_CHAT, name="ramp", arrivals=Arrivals(law="ramp")),
}
"""`assistant`: documents and questions about them. `chat`: short messages, many turns. `agents`: long tool loops that
reuse a growing prompt. `reasoning`: short questions, answers of thousands of tokens. `tenants`: a hundred, of whom ten
send two thirds. `long_minority`: three requests in a hundred begin with a document of 24,000 tokens. `images`: plain
inference of equal size and no dialogue. `batch_and_chat`: half of the requests are plain and come in waves. `adapters`:
two dozen models that share nothing. `bursts`, `ramp`: `chat` at a rate that jumps, or grows.
"""
