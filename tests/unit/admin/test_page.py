from pointsman.admin.page import index
from pointsman.admin.routes import ROUTES


def test_every_route_is_on_the_page_and_only_plain_gets_are_links() -> None:
    page = index()
    for route in ROUTES:
        assert f"<code>{route.path}</code>" in page
    assert '<a href="/metrics">' in page
    assert 'href="/nodes/{id}"' not in page
