"""Ray as the runner of a deduplication's tasks. Nothing else of the package imports Ray."""

# Where the types are checked Ray may not be installed, and not all of it has types.
# mypy: disable-error-code="import-not-found,no-untyped-call"

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

from cutpoint import _core
from cutpoint.ray import _tables
from cutpoint.ray._driver import TaskLost
from cutpoint.ray._tables import DedupError

TESTED = "2.60"  #: what Ray's errors are, and when it repeats what, has changed between versions before

try:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ImportError:
    raise DedupError("Ray is missing: install it by pip install 'cutpoint[ray]'") from None


@contextlib.contextmanager
def _without_stderr() -> Iterator[None]:
    """Drops what the process writes to standard error meanwhile, in any thread, and by code that is not Python's too."""
    saved, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(null)


def _choose_token(address: str) -> None:
    """Has Ray send this machine's token if the cluster asks for one. By itself Ray 2.60 sends none to an address that is given, and one
    to `auto` whenever there is one; but where none is asked for, objects then never arrive. Takes 10 ms; 40 s if what answers at the
    address is not Ray."""
    if "RAY_AUTH_MODE" in os.environ:
        return
    try:
        with _without_stderr():
            ray._raylet.GcsClient(address=address)
    except ray.exceptions.AuthenticationError:
        os.environ["RAY_AUTH_MODE"] = "token"
        ray._raylet.Config.initialize("")  # Ray has read the mode when it was imported


def connect(address: str) -> None:
    """Connects to a cluster, or starts Ray in this process, unless the program is connected already."""
    if ray.is_initialized():
        return
    if not ray.__version__.startswith(TESTED + "."):
        raise DedupError(f"Ray {ray.__version__} is installed, and cutpoint works with {TESTED}: install it by pip install 'cutpoint[ray]'")
    host, _, port = address.rpartition(":")
    if address not in ("auto", "local"):
        if not host or "/" in host or not port.isdecimal():
            raise ValueError(f"address = {address!r} must be auto, local or HOST:PORT")
        try:
            socket.create_connection((host, int(port)), timeout=2).close()  # Ray itself would look for it for 14 minutes
        except (OSError, OverflowError) as error:
            raise DedupError(f"no Ray cluster answers at {address}: {error}") from None
    os.environ |= {"RAY_NUM_REDIS_GET_RETRIES": "1", "RAY_IGNORE_UNHANDLED_ERRORS": "1"}
    is_main = threading.current_thread() is threading.main_thread()
    on_end = signal.getsignal(signal.SIGTERM)
    try:
        if address == "local":
            ray.init(address, log_to_driver=False, logging_level=logging.ERROR, include_dashboard=False)
        else:
            host_and_port = ray._private.services.canonicalize_bootstrap_address_or_die(address)
            _choose_token(host_and_port)
            ray.init(host_and_port, log_to_driver=False, logging_level=logging.ERROR)
    except Exception as error:
        reason = str(error).strip().splitlines()[0]
        refused = ", or it has another token than this machine" if address not in ("auto", "local") else ""
        raise DedupError(f"there is no Ray cluster to join at {address!r}{refused}: {reason}") from None
    if is_main:
        signal.signal(signal.SIGTERM, on_end)  # which Ray has replaced


class Node(str):
    """A machine by the name that messages give it."""

    id: str
    cpus: int

    def __new__(cls, facts: dict[str, Any]) -> Node:
        node = super().__new__(cls, f"{facts['NodeManagerHostname']} {facts['NodeID'][:8]}")
        node.id, node.cpus = facts["NodeID"], int(facts["Resources"]["CPU"])
        return node


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """What runs in a task: an exception comes back as one sentence, since those of Ray keep only the text."""
    try:
        return function(*arguments)
    except (OSError, ValueError, MemoryError, _core.CutpointError) as error:
        raise DedupError(str(error)) from None


def stream(function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
    try:
        yield from function(*arguments)
    except (OSError, ValueError, MemoryError, _core.CutpointError) as error:
        raise DedupError(str(error)) from None


class RayTasks:
    def __init__(self, threads: int | None, options: dict[str, Any]) -> None:
        """`options` are Ray's for the tasks that read, such as a label_selector."""
        nodes: list[dict[str, Any]] = ray.nodes()
        alive = [each for each in nodes if each["Alive"] and each["Resources"].get("CPU")]
        if not alive:
            raise DedupError("the Ray cluster has no machine with processors")
        self.threads_each = threads or int(min(each["Resources"]["CPU"] for each in alive))
        self.nodes = [Node(each) for each in alive]
        self.options = options
        if self.slots == 0:
            raise DedupError(f"no machine of the Ray cluster has {self.threads_each} processors")

    @property
    def slots(self) -> int:
        return sum(each.cpus // self.threads_each for each in self.nodes)

    @property
    def threads(self) -> int:
        return self.slots * self.threads_each

    def check(self, paths: list[str], is_per_machine: bool) -> None:
        """Looks that each machine has this package, and whether it sees the paths."""
        handles = {node: self.submit("look", _tables.describe_node, paths, node=node)[0] for node in self.nodes}
        missing: dict[str, list[str]] = {path: [] for path in paths}
        for node, handle in handles.items():
            try:
                facts = self.get(handle)
            except TaskLost:
                # Ray notices only after some 17 seconds that a machine is dead.
                if is_per_machine:
                    raise DedupError(f"{node}: does not answer, so that its files cannot be read") from None
                self.nodes.remove(node)
                continue
            except Exception as error:
                raise DedupError(f"{node}: cutpoint cannot be used there: {str(error).strip().splitlines()[-1]}") from None
            if facts["version"] != _core.__version__:
                raise DedupError(f"{node}: has cutpoint {facts['version']}, and this program has {_core.__version__}")
            for path in facts["missing"]:
                missing[path].append(node)
        if self.slots == 0:
            raise DedupError("no machine of the Ray cluster answers")
        for path, nodes in missing.items():
            if nodes and (is_per_machine or len(nodes) < len(self.nodes)):
                raise DedupError(f"{path}: is not seen by {', '.join(nodes)}")

    def remote(self, name: str, function: Callable[..., Any], node: Any, **options: Any) -> Any:
        where = {"scheduling_strategy": NodeAffinitySchedulingStrategy(node.id, soft=False)} if node is not None else {}
        return ray.remote(function).options(name=f"cutpoint: {name}", max_retries=0, **options, **where)

    def submit(
        self, name: str, function: Callable[..., Any], *arguments: Any, outputs: int = 1, cpus: float = 0, node: Any = None
    ) -> list[Any]:
        extra = self.options if function in (_tables.map_page, _tables.map_segment) else {}
        handles = self.remote(name, call, node, num_cpus=cpus, num_returns=outputs, **extra).remote(function, *arguments)
        return handles if outputs > 1 else [handles]

    def stream(self, name: str, function: Callable[..., Any], *arguments: Any, node: Any = None) -> Iterator[Any]:
        backpressure = {"_generator_backpressure_num_objects": 16}
        handles = self.remote(name, stream, node, num_cpus=0, num_returns="streaming", **backpressure).remote(function, *arguments)
        try:
            for handle in handles:  # whose generator cannot be closed, as `yield from` does
                yield handle
        finally:
            ray.cancel(handles)  # of no effect when it has ended

    def wait(self, handles: list[Any]) -> Any:
        return ray.wait(handles, num_returns=1, fetch_local=False)[0][0]

    def get(self, handle: Any) -> Any:
        try:
            return ray.get(handle)
        except ray.exceptions.RayTaskError as error:
            raise DedupError(str(error.cause)) from None
        except (
            ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError, ray.exceptions.ObjectLostError,
            ray.exceptions.NodeDiedError, ray.exceptions.LocalRayletDiedError, ray.exceptions.TaskUnschedulableError,
        ) as error:  # fmt: skip
            raise TaskLost(str(error).strip().splitlines()[0]) from None

    def cancel(self, handles: list[Any]) -> None:
        for handle in handles:
            ray.cancel(handle, force=False)
