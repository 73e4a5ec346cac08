from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.orders import Order, Start


def test_it_is_an_order_that_says_what_goes_where() -> None:
    node = NodeSpec(url="http://a")
    order = Start(ticket=1, lease=2, node=node, attempt=3, first_token_s=4.0)
    assert Start in Order.__args__
    assert (order.ticket, order.lease, order.attempt, order.first_token_s) == (1, 2, 3, 4.0)
    assert order.node is node
