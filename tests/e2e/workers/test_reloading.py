"""The supervisor reads the configuration, and all workers go by it: those there are, and those that come later."""

import asyncio
import os
import signal

from tests.e2e.gateway.conftest import Client, chat

from .conftest import Engine, Site


def changed(site: Site, before: str, after: str) -> None:
    """Put another configuration in the place of the one there is, all at once."""
    new = site.config.with_name("new")
    text = site.config.read_text()
    assert before in text
    new.write_text(text.replace(before, after))
    new.replace(site.config)


async def reloads(site: Site) -> dict[str, float]:
    return {name: value for name, value in (await site.metrics()).items() if "config_reloads" in name}


async def statuses(site: Site, key: str) -> set[int]:
    """What so many connections get that every worker has some of them."""

    async def one() -> int:
        async with Client(site.port) as client:
            return (await client.ask(chat(), headers=(f"authorization: Bearer {key}",))).status

    return set(await asyncio.gather(*[one() for _ in range(16)]))


async def test_all_workers_change_and_one_that_starts_beside_a_bad_file_too(site: Site) -> None:
    await site.start(Engine(), more="api_keys = ['old']")
    assert await statuses(site, "old") == {200}
    changed(site, "'old'", "'new'")
    site.process.send_signal(signal.SIGHUP)

    async def only_new() -> bool:
        return await statuses(site, "old") == {401} and await statuses(site, "new") == {200}

    await site.until(only_new)
    changed(site, "api_keys", "lissen")
    site.process.send_signal(signal.SIGHUP)

    async def failed() -> bool:
        return (await reloads(site))["pointsman_config_reloads_total"] == 2

    await site.until(failed)
    before = await site.workers()
    os.kill(before[0], signal.SIGKILL)

    async def followed() -> bool:
        now = await site.workers()
        return len(now) == 2 and now != before and await site.ready()

    await site.until(followed, 15.0)
    await site.until(only_new, 10.0)
    words = await site.words()
    assert words.count("configuration reloaded; changed: api_keys") == 1
    assert words.count("the configuration stays as it was") == 1
    assert "Traceback" not in words


async def test_the_file_overrules_what_the_admin_api_changed_before(site: Site) -> None:
    await site.start(Engine(), Engine())
    await site.admin("/nodes/1", "DELETE")
    await site.admin("/policy", "PUT", json={"policy": "round_robin"})
    changed(site, 'policy = "least_requests"', 'policy = "two_choices"')
    changed(site, '"1", url', '"1", weight = 0.5, url')

    async def there() -> bool:
        return (await site.nodes()).get("1", {}).get("state") == "up"

    await site.until(there)
    before = await site.workers()
    site.process.send_signal(signal.SIGUSR2)

    async def replaced() -> bool:
        return not set(await site.workers()) & set(before)

    await site.until(replaced, 20.0)
    assert (await site.nodes())["1"]["cap"] == 8
    assert {each["policy"] for each in (await site.admin("/policy"))["in_use"]} == {"two_choices"}
