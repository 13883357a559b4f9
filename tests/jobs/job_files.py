"""A job file that is right, and ways to read one that is not."""

from pathlib import Path

import pytest

import headgate as hg
from headgate.jobs import Job, JobError, read_job

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "job-file.md"

GOOD = """\
name = "auctions"

[left]
format = "parquet"
path = "auctions"
options = { maxFilesPerTrigger = 1, mergeSchema = true }
time = "opened_at"
window = "10 minutes"
watermark = "1 second"
key = "id"

[right]
format = "kafka"
options."kafka.bootstrap.servers" = "localhost:9092"
options.subscribe = "bids"
time = "bid_at"
window = "0 seconds"
watermark = "1 minute 30 seconds"
key = "auction"

[right.columns]
bid = "from_json(cast(value as string), 'auction long, price double, bid_at timestamp')"
auction = "bid.auction"
bid_at = "bid.bid_at"

[join]
budget = { rows = 1000, memory = "64 MB" }
policy = "auto"

[sink]
format = "parquet"
path = "result"
trigger = "10 seconds"
checkpoint = "checkpoint"

[spark]
spark.executor.memory = "2g"
"spark.sql.shuffle.partitions" = 4
"""


def profiled_auctions() -> hg.Profile:
    """What the sides of `GOOD` are like."""
    from headgate.demo.auctions import auction_stream

    stream = auction_stream(16_000)
    return hg.profile(
        stream.auctions,
        stream.bids,
        left_on="id",
        right_on="auction",
        left=hg.Side(time="opened_at", window="10 minutes"),
        right=hg.Side(time="bid_at", window="0 seconds"),
    )


def job_of(text: str, **environment: str) -> Job:
    Path("job.toml").write_text(text)
    return read_job("job.toml", environment)


def problems_of(text: str, **environment: str) -> list[tuple[int, str]]:
    with pytest.raises(JobError) as raised:
        job_of(text, **environment)
    return [(problem.line, problem.message) for problem in raised.value.problems]


def line_of(text: str, part: str) -> int:
    """The number of the first line that has the part."""
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)


def changed(old: str, new: str, text: str = GOOD) -> str:
    assert text.count(old) >= 1
    return text.replace(old, new, 1)
