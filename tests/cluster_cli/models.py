"""Plain models of the routing policies and of the super-chunks that they route, after docs/cluster.md. They share no code with
the library, and are as slow as they are short."""

import bisect
import itertools
import math
from typing import NamedTuple

from traces import Chunk, File

MASK = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15


class Options(NamedTuple):
    node_count: int
    handprint_size: int
    super_chunk_bytes: int
    is_fixed: bool
    points: int
    batch_size: int
    overload_percent: int
    changes: list[tuple[int, int]]  # the number of live nodes from a percentage of the chunks on, as (percent, count)


class Unit(NamedTuple):
    application: int
    client: int
    chunks: list[Chunk]

    def handprint(self, size: int) -> list[int]:
        return sorted({chunk.fingerprint for chunk in self.chunks})[:size]


def mixed(word: int) -> int:
    """SplitMix64's final function."""
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & MASK
    word = (word ^ word >> 27) * 0x94D049BB133111EB & MASK
    return word ^ word >> 31


class Ring:
    def __init__(self, node_count: int, point_count: int):
        points = []
        for node in range(node_count):
            seed = mixed(node + 1)
            points += [(mixed(seed + i * STEP & MASK), node) for i in range(1, point_count + 1)]
        self.points = sorted(points)

    def owner(self, fingerprint: int, members: set[int]) -> int:
        first = bisect.bisect_left(self.points, (mixed(fingerprint), -1))
        return next(node for _, node in self.points[first:] + self.points[:first] if node in members)


def super_chunks(files: list[File], options: Options) -> list[Unit]:
    target = options.super_chunk_bytes
    units: list[Unit] = []

    def ends(chunks: list[Chunk]) -> bool:
        length = sum(chunk.length for chunk in chunks)
        if options.is_fixed:
            return length >= target
        least = target // 2
        is_chosen = mixed(chunks[-1].fingerprint + STEP & MASK) % (target - least) < chunks[-1].length
        return length >= least and (length >= 2 * target or is_chosen)

    def extend(start: list[Chunk], chunks: list[Chunk], application: int, client: int) -> list[Chunk]:
        for chunk in chunks:
            start = [*start, chunk]
            if ends(start):
                units.append(Unit(application, client, start))
                start = []
        return start

    shared: dict[int, list[Chunk]] = {}
    client = 0

    def close_shared() -> None:
        units.extend(Unit(application, client, chunks) for application, chunks in sorted(shared.items()) if chunks)
        shared.clear()

    for file in files:
        if file.client != client:
            close_shared()
            client = file.client
        is_small = sum(chunk.length for chunk in file.chunks) < target
        start = shared.get(file.application, []) if is_small else []
        rest = extend(start, file.chunks, file.application, client)
        if is_small:
            shared[file.application] = rest
        elif rest:
            units.append(Unit(file.application, client, rest))
    close_shared()
    return units


def sketch(fingerprints: set[int]) -> dict[int, int]:
    """The bitmaps of probabilistic counting that are not empty."""
    bitmaps: dict[int, int] = {}
    for each in fingerprints:
        rest, bitmap = divmod(mixed(each + 2 * STEP & MASK), 8192)
        bit = next((bit for bit in range(50) if rest >> bit & 1), 50)
        bitmaps[bitmap] = bitmaps.get(bitmap, 0) | 1 << bit
    return bitmaps


def union(first: dict[int, int], second: dict[int, int]) -> dict[int, int]:
    return {bitmap: first.get(bitmap, 0) | second.get(bitmap, 0) for bitmap in first.keys() | second.keys()}


def estimated_count(bitmaps: dict[int, int]) -> float:
    ones = (next(bit for bit in itertools.count() if not bits >> bit & 1) for bits in bitmaps.values())
    mean = sum(ones) / 8192
    return 8192 / 0.77351 * (math.exp2(mean) - math.exp2(-1.75 * mean))


class Cluster:
    """The state that decisions see."""

    def __init__(self, options: Options):
        self.options = options
        self.ring = Ring(options.node_count, options.points)
        self.alive = set(range(options.node_count))
        self.loads = [0] * options.node_count
        self.chunks: list[set] = [set() for _ in self.loads]  # of each node; no model needs those of bins
        self.handprints: list[set] = [set() for _ in self.loads]  # of each node, with the class
        self.sketches: list[dict[int, int]] = [{} for _ in self.loads]  # of each node: its bitmaps by their numbers
        self.class_nodes: dict[int, set[int]] = {}
        self.client_nodes: dict[int, int] = {}

    def is_overloaded(self, node: int, percent: int) -> bool:
        mean = sum(self.loads[each] for each in self.alive) // len(self.alive)
        return percent != 0 and self.loads[node] * 100 > mean * percent

    def lightest(self, nodes: set[int]) -> int:
        return min(sorted(nodes), key=lambda node: self.loads[node])

    def class_members(self, application: int, percent: int) -> set[int]:
        """Algorithm 1."""
        members = self.class_nodes.get(application, set()) & self.alive
        if all(self.is_overloaded(node, percent) for node in members):
            members = members | {self.lightest(self.alive)}
        return members

    def most_similar(self, application: int, handprint: list[int], members: set[int]) -> int:
        """Algorithm 2. The order of the scores is that of r/w, with loads that may be 0."""
        candidates = list(dict.fromkeys(self.ring.owner(each, members) for each in handprint))
        best = candidates[0]
        matches = {node: sum((application, each) in self.handprints[node] for each in handprint) for node in candidates}
        for node in candidates[1:]:
            score, best_score = matches[node] * self.loads[best], matches[best] * self.loads[node]
            if bool(matches[node]) != bool(matches[best]):
                best = node if matches[node] else best
            elif score != best_score:
                best = node if score > best_score else best
            elif self.loads[node] < self.loads[best]:
                best = node
        return best

    def vote(self, unit: Unit, free: set[int]) -> int | None:
        """The node that has the most of an eighth of the chunks for its load."""
        sample = [chunk.fingerprint for chunk in unit.chunks if mixed(chunk.fingerprint) % 8 == 0]
        return self.most_matches(free, {node: sum(each in self.chunks[node] for each in sample) for node in free})

    def most_matches(self, free: set[int], counts: dict[int, int]) -> int | None:
        best, best_count = None, 0
        for node in sorted(free):
            count = counts[node]
            if count > 0 and (best is None or count * self.loads[best] > best_count * self.loads[node]):
                best, best_count = node, count
        return best

    def free_nodes(self, percent: int) -> set[int]:
        return {node for node in self.alive if not self.is_overloaded(node, percent)}


def app_dedupe(cluster: Cluster, unit: Unit, handprint: list[int]) -> int:
    members = cluster.class_members(unit.application, cluster.options.overload_percent)
    return cluster.most_similar(unit.application, handprint, members)


def app_aware(cluster: Cluster, unit: Unit, _handprint: list[int]) -> int:
    members = cluster.class_nodes.get(unit.application, set()) & cluster.alive
    return cluster.lightest(members or cluster.alive)


def sigma_dedupe(cluster: Cluster, _unit: Unit, handprint: list[int]) -> int:
    return cluster.most_similar(0, handprint, cluster.alive)


def smallest_fingerprint(cluster: Cluster, unit: Unit, _handprint: list[int]) -> int:
    return cluster.ring.owner(min(chunk.fingerprint for chunk in unit.chunks), cluster.alive)


def emc_stateful(cluster: Cluster, unit: Unit, handprint: list[int]) -> int:
    free = cluster.free_nodes(cluster.options.overload_percent)
    winner = cluster.vote(unit, free)
    if winner is not None:
        return winner
    stateless = smallest_fingerprint(cluster, unit, handprint)
    return stateless if stateless in free else cluster.lightest(free)


def produck(cluster: Cluster, unit: Unit, _handprint: list[int]) -> int:
    free = cluster.free_nodes(cluster.options.overload_percent)
    fingerprints = {chunk.fingerprint for chunk in unit.chunks}
    of_unit = sketch(fingerprints)
    counts = {}
    for node in free:
        of_node = cluster.sketches[node]
        added_count = estimated_count(union(of_node, of_unit)) - estimated_count(of_node)
        counts[node] = math.floor(len(fingerprints) - added_count + 0.5)
    winner = cluster.most_matches(free, counts)
    return cluster.lightest(free) if winner is None else winner


def calb(cluster: Cluster, unit: Unit, _handprint: list[int]) -> int:
    free = cluster.free_nodes(200)
    present = cluster.client_nodes.get(unit.client)
    if present in free:
        return present
    winner = cluster.vote(unit, free)
    return cluster.lightest(free) if winner is None else winner


POLICIES = {
    "app-dedupe": app_dedupe,
    "app-aware": app_aware,
    "sigma-dedupe": sigma_dedupe,
    "dht": smallest_fingerprint,
    "emc-stateless": smallest_fingerprint,
    "emc-stateful": emc_stateful,
    "calb": calb,
    "extreme-binning": smallest_fingerprint,
    "produck": produck,
}


def units_of(policy: str, files: list[File], options: Options) -> list[Unit]:
    if policy == "dht":
        return [Unit(file.application, file.client, [chunk]) for file in files for chunk in file.chunks]
    if policy == "extreme-binning":
        return [Unit(*file) for file in files if file.chunks]
    return super_chunks(files, options)


def placements(policy: str, files: list[File], options: Options) -> list[tuple[int, int, int]]:
    """The node, fingerprint and length of each chunk, in the order of the routing units."""
    cluster = Cluster(options)
    units = units_of(policy, files, options)
    total = sum(len(file.chunks) for file in files)
    placed: list[tuple[int, int, int]] = []
    for begin in range(0, len(units), options.batch_size):
        for percent, live_count in options.changes:
            if len(placed) * 100 >= percent * total:
                cluster.alive = set(range(live_count))
        batch = units[begin : begin + options.batch_size]
        nodes = [POLICIES[policy](cluster, unit, unit.handprint(options.handprint_size)) for unit in batch]
        for unit, node in zip(batch, nodes, strict=True):
            for chunk in unit.chunks:
                if chunk.fingerprint not in cluster.chunks[node]:
                    cluster.chunks[node].add(chunk.fingerprint)
                    cluster.loads[node] += chunk.length
                placed.append((node, *chunk))
            if policy == "produck":
                fingerprints = {chunk.fingerprint for chunk in unit.chunks}
                cluster.sketches[node] = union(cluster.sketches[node], sketch(fingerprints))
            known_class = unit.application if policy == "app-dedupe" else 0
            cluster.handprints[node] |= {(known_class, each) for each in unit.handprint(options.handprint_size)}
            cluster.class_nodes.setdefault(unit.application, set()).add(node)
            cluster.client_nodes[unit.client] = node
    return placed
