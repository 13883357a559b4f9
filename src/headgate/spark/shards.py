"""Shard labels: integers that Spark's hash partitioning spreads evenly over its partitions."""

import numpy as np

CONTROL = -1
"""Label of the shard that holds no rows and checks that a restart continues the same join."""


def spark_hash(values: np.ndarray) -> np.ndarray:
    """Spark's hash of integers (Murmur3, seed 42), as used to partition a shuffle.

    Examples
    --------
    >>> spark_hash(np.array([0, 1])).tolist()
    [933211791, -559580957]
    """
    word = np.uint64(0xFFFFFFFF)

    def rotate(x: np.ndarray, bits: int) -> np.ndarray:
        return ((x << np.uint64(bits)) | (x >> np.uint64(32 - bits))) & word

    k = np.asarray(values, np.int64).astype(np.uint32).astype(np.uint64)
    k = rotate((k * np.uint64(0xCC9E2D51)) & word, 15)
    h = np.uint64(42) ^ ((k * np.uint64(0x1B873593)) & word)
    h = (rotate(h, 13) * np.uint64(5) + np.uint64(0xE6546B64)) & word
    h ^= np.uint64(4)
    h ^= h >> np.uint64(16)
    h = (h * np.uint64(0x85EBCA6B)) & word
    h ^= h >> np.uint64(13)
    h = (h * np.uint64(0xC2B2AE35)) & word
    h ^= h >> np.uint64(16)
    return h.astype(np.uint32).view(np.int32)


def shard_labels(shards: int, partitions: int) -> tuple[int, ...]:
    """Labels such that shard i lands in partition i modulo ``partitions``.

    Examples
    --------
    >>> labels = shard_labels(4, 2)
    >>> np.mod(spark_hash(np.array(labels)).astype(np.int64), 2).tolist()
    [0, 1, 0, 1]
    """
    wanted = [len(range(partition, shards, partitions)) for partition in range(partitions)]
    found: list[list[int]] = [[] for _ in range(partitions)]
    first, span = 0, max(1024, 8 * shards)
    while any(len(have) < want for have, want in zip(found, wanted, strict=True)):
        candidates = np.arange(first, first + span)
        landing = np.mod(spark_hash(candidates).astype(np.int64), partitions)
        for label, partition in zip(candidates.tolist(), landing.tolist(), strict=True):
            if len(found[partition]) < wanted[partition]:
                found[partition].append(label)
        first += span
    return tuple(found[shard % partitions][shard // partitions] for shard in range(shards))
