"""Which blocks each server holds: greedy block placement with cache reservation, GBP-CR.

T. Sun, T. He, I.-H. Hou (2026). Strategy: reserve cache for c jobs beside every block, which leaves a server room for
m_j blocks. Take the servers by their time per block, fastest first, and lay the blocks along them; a server that
completes a chain slides left, so that it is as full as it can be. Stop when the chains, c jobs each, serve the rate
at the target load. Optimal among placements of disjoint chains when all servers have equal memory; O(J log J).
"""

from collections.abc import Sequence

from pointsman.chains.model import Infeasible, Server, Service, Stage, number_of_jobs


def place(
    servers: Sequence[Server], service: Service, *, reserved: int, rate: float, target_load: float
) -> tuple[Stage, ...]:
    """The stages, in the order servers were taken; those not needed are left out.

    `reserved`: jobs to keep cache for beside every block (c); `rate`: jobs per second, of which the chains shall be
    able to serve 1/`target_load` times as many. All servers are used, and may be too few, where that is not reached.
    Raises Infeasible when all servers together cannot hold the blocks.
    """
    held = {server: service.held(server, reserved) for server in servers}
    _check_room(held, service, reserved)
    wanted = rate / (target_load * reserved)
    stages: list[Stage] = []
    following, seconds, served = 1, 0.0, 0.0
    for server in _by_time_per_block(held):
        count = held[server]
        stages.append(Stage(server, min(following, service.blocks - count + 1), count))
        following, seconds = following + count, seconds + server.job_seconds(count)
        if following > service.blocks:
            served += 1.0 / seconds
            if served >= wanted:
                break
            following, seconds = 1, 0.0
    return tuple(stages)


def _by_time_per_block(held: dict[Server, int]) -> list[Server]:
    """The servers that hold anything; the order given among equals."""
    useful = [server for server, count in held.items() if count]
    return sorted(useful, key=lambda server: server.job_seconds(held[server]) / held[server])


def _check_room(held: dict[Server, int], service: Service, reserved: int) -> None:
    missing = service.blocks - sum(held.values())
    if missing > 0:
        need = missing * (service.block_gb + reserved * service.job_gb)
        raise Infeasible(
            f"{missing} of {service.blocks} blocks fit on no server with cache for "
            f"{number_of_jobs(reserved)} beside each: at least {need:.3g} GB more are needed"
        )
