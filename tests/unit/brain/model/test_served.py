from pointsman.brain.model.served import Served


def test_it_names_the_request_and_the_tenant_of_the_row() -> None:
    served = Served("t", "r", 3, 2, True, 1.5)
    assert (served.tenant, served.request) == ("t", "r")
    assert (served.row, served.generation, served.failed, served.ended) == (3, 2, True, 1.5)
