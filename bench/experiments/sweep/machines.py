"""Measures cells on this machine, or on all machines of a Ray cluster, by a function like `map` whose results come in any order."""

import socket
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from experiments.sweep.cell import Cell
from experiments.sweep.measure import Measured, Measurer

MODULES = str(Path(__file__).resolve().parents[2])  # bench/, on every machine


class NoCluster(Exception):
    """Ray is not installed, does not answer, or lost a machine."""


def spread_over(address: str | None) -> Callable[[Measurer, Iterable[Cell]], Iterator[Measured]]:
    """Returns the function that measures cells, one after the other: on this machine, or with an address on each machine of that cluster.
    Each machine needs the repository at the same path with an equal build. Raises NoCluster, now or while it measures."""
    return map if address is None else _over_cluster(address)


def _over_cluster(address: str) -> Callable[[Measurer, Iterable[Cell]], Iterator[Measured]]:
    try:
        import ray
        from ray.util import ActorPool
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy as On
    except ImportError:
        raise NoCluster("Ray is not installed; scripts/sweep installs it for --ray") from None
    try:
        host, colon, port = address.rpartition(":")
        if colon:  # fails at once, while Ray would try for a minute
            socket.create_connection((host, int(port)), timeout=5).close()
        ray.init(address, runtime_env={"env_vars": {"PYTHONPATH": MODULES}}, logging_level="error", log_to_driver=False)
    except (OSError, ValueError, RuntimeError) as failed:
        raise NoCluster(f"no Ray cluster at {address}: {str(failed).splitlines()[0]}") from None

    class Machine:
        """A process on a machine, which caches the command's answers."""

        def __init__(self, measurer: Measurer):
            self._measurer = measurer

        def measure(self, cell: Cell) -> Measured:
            return self._measurer(cell)

    def measure_all(measurer: Measurer, cells: Iterable[Cell]) -> Iterator[Measured]:
        nodes = [node["NodeID"] for node in ray.nodes() if node["Alive"]]
        machine = ray.remote(num_cpus=0)(Machine)
        pool = ActorPool([machine.options(scheduling_strategy=On(node, soft=False)).remote(measurer) for node in nodes])
        try:
            yield from pool.map_unordered(lambda actor, cell: actor.measure.remote(cell), cells)
        except ray.exceptions.RayError as failed:
            raise NoCluster(f"the Ray cluster failed; results are kept: {str(failed).splitlines()[0]}") from None

    return measure_all
