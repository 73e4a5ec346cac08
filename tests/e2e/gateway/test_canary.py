"""No key is written or said anywhere but where it belongs."""

from tests.support.scenes import play


async def test_no_key_gets_out() -> None:
    await play("canary")
