"""Runs seeds in slices, in one process or several, until they are done or time is up."""

import faulthandler
import multiprocessing
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Slice:
    """What some seeds brought."""

    counts: Counter[str] = field(default_factory=Counter)
    failed: list[tuple[str, str]] = field(default_factory=list)
    """Seeds that failed, each with its story."""
    cpu_s: float = 0.0

    def add(self, other: "Slice") -> None:
        """Take in another."""
        self.counts.update(other.counts)
        self.failed += other.failed
        self.cpu_s += other.cpu_s


IDLE_S = 300
"""So long may a process that is free to run do nothing, before it counts as waiting for ever."""
LEAST_CPU_S = 0.002
"""In a second; a process that does less waits, or gets no processor."""


@contextmanager
def within(cpu_s: float, idle_s: int = IDLE_S) -> Iterator[None]:
    """What is inside takes at most so much processor time, or fails: a loop without end is found.

    So is a wait without end: in so many seconds, one by one, the process did nothing. A process
    that is stopped, or gets no processor, hears of one second when it goes on, however long it was.
    """
    began = last = time.process_time()
    idle = 0

    def look(*_: object) -> None:
        nonlocal last, idle
        now = time.process_time()
        idle = idle + 1 if now - last < LEAST_CPU_S else 0
        last = now
        if now - began > cpu_s:
            raise TimeoutError(f"no end within {cpu_s} s of processor time")
        if idle >= idle_s:
            raise TimeoutError(f"nothing was done for {idle_s} s")

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, 1, 1)
    faulthandler.register(signal.SIGPROF, chain=True)
    signal.setitimer(signal.ITIMER_PROF, 2 * cpu_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.unregister(signal.SIGPROF)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


Work = Callable[[range], Slice]
"""Runs some seeds."""


@dataclass(frozen=True)
class Bounds:
    """When to stop."""

    minutes: float
    most_failures: int
    processes: int = 1
    size: int = 10
    """Seeds in a slice."""


def run_slices(
    work: Work, numbers: range, bounds: Bounds, tell: Callable[[Slice, range], None]
) -> tuple[Slice, range]:
    """Run numbers in order; what they brought, and which of them were run."""
    whole, end = Slice(), numbers.start
    deadline = time.time() + 60 * bounds.minutes
    for done, more in _done(work, numbers, bounds, deadline):
        whole.add(more)
        end = max(end, done.stop)
        tell(more, range(numbers.start, end))
        if len(whole.failed) >= bounds.most_failures:
            break
    return whole, range(numbers.start, end)


def _done(
    work: Work, numbers: range, bounds: Bounds, deadline: float
) -> Iterator[tuple[range, Slice]]:
    parts = (numbers[at : at + bounds.size] for at in range(0, len(numbers), bounds.size))
    if bounds.processes == 1:
        for part in parts:
            yield part, _timed(work, part)
            if time.time() > deadline:
                return
        return
    with ProcessPoolExecutor(bounds.processes, multiprocessing.get_context("spawn")) as pool:
        running: dict[Future[Slice], range] = {}
        for part in parts:
            try:
                running[pool.submit(_timed, work, part)] = part
            except BrokenProcessPool:
                break
            if len(running) < bounds.processes:
                continue
            ready, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in ready:
                yield running.pop(future), _brought(future)
            if time.time() > deadline:
                break
        for future, part in running.items():
            yield part, _brought(future)


def _brought(future: Future[Slice]) -> Slice:
    """What a slice brought; one whose process has died has failed."""
    try:
        return future.result()
    except BrokenProcessPool:
        story = "FAILED a process died in or beside these seeds: run each of them by itself\n"
        return Slice(failed=[("died", story)])


def _timed(work: Work, numbers: range) -> Slice:
    before = time.process_time()
    found = work(numbers)
    found.cpu_s = time.process_time() - before
    return found
