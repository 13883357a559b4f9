"""Job files: what is wrong with one is said in full, each with its line, and no secret is told."""

import itertools
import re
import tomllib
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from typer.testing import CliRunner

import headgate as hg
from headgate.cli.main import app
from headgate.jobs import Job, JobError, read_job
from headgate.jobs.batch_figures import Figures
from headgate.jobs.explanation import explained
from headgate.jobs.job_plan import advice, verdict
from headgate.jobs.job_view import View, batch_line, summary
from headgate.jobs.lines import Lines
from headgate.jobs.section import Section
from headgate.jobs.settings import scrubbed
from headgate.policies import Learned
from headgate.profiles.facts import Both, Stored
from headgate.spec import TimeWindow

REFERENCE = Path(__file__).parent.parent / "docs" / "job-file.md"

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


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the files that the left side reads."""
    (tmp_path / "auctions").mkdir()
    times = pa.array([datetime(2026, 1, 1)], pa.timestamp("us", "UTC"))
    table = pa.table({"id": [1], "price": [2.0], "opened_at": times})
    pq.write_table(table, tmp_path / "auctions" / "0.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


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


class TestAGoodFile:
    def test_is_a_job(self) -> None:
        job = job_of(GOOD)
        assert job.name == "auctions"
        assert job.join == hg.WindowJoin(
            left_on="id",
            right_on="auction",
            left=hg.Side(time="opened_at", window="10 minutes"),
            right=hg.Side(time="bid_at", window="0 seconds"),
            budget=hg.Budget(rows=1000, memory="64 MB"),
        )
        assert {name: it.value for name, it in job.left.options.items()} == {
            "maxFilesPerTrigger": "1",
            "mergeSchema": "true",
            "path": "auctions",
        }
        assert job.right.options["kafka.bootstrap.servers"].value == "localhost:9092"
        assert job.right.watermark_us == 90_000_000
        assert [name for name, _ in job.right.shaping.columns] == ["bid", "auction", "bid_at"]
        assert (job.sink.trigger.kind, job.sink.trigger.every_us) == ("every", 10_000_000)
        assert {name: it.value for name, it in job.spark.items()} == {
            "spark.executor.memory": "2g",
            "spark.sql.shuffle.partitions": "4",
        }

    def test_without_a_name_is_called_after_its_file(self) -> None:
        assert job_of(changed('name = "auctions"', "")).name == "job"

    @pytest.mark.parametrize(
        ("written", "kind"),
        [
            ('trigger = "available-now"', "available-now"),
            ('trigger = "always"', "always"),
            ("", "always"),
        ],
    )
    def test_may_say_when_batches_begin(self, written: str, kind: str) -> None:
        assert job_of(changed('trigger = "10 seconds"', written)).sink.trigger.kind == kind

    @pytest.mark.parametrize(
        ("written", "goal"),
        [
            ('"max-subset"', hg.MaxSubset()),
            ('"sample"', hg.Sample()),
            (
                '{ kind = "sample", scheme = "cluster", weight = "w" }',
                hg.Sample("cluster", weight="w"),
            ),
            (
                '{ kind = "max-importance", left = "price", combine = "sum", right = 2 }',
                hg.MaxImportance("price", 2, combine="sum"),
            ),
            (
                '{ kind = "max-importance", left = { column = "category", values = { art = 3 }, '
                "default = 1 } }",
                hg.MaxImportance(hg.Categories("category", {"art": 3}, default=1)),
            ),
            (
                '{ kind = "max-importance", left = { column = "price", edges = [0, 10, inf], '
                "importance = [1, 5] } }",
                hg.MaxImportance(hg.Histogram("price", [0, 10, float("inf")], [1, 5])),
            ),
        ],
    )
    def test_may_have_any_goal(self, written: str, goal: hg.Goal) -> None:
        assert job_of(changed("[join]", f"[join]\ngoal = {written}")).join.goal == goal

    @pytest.mark.parametrize(
        ("written", "where"),
        [
            ('{ band = "price", lower = -1, upper = 5 }', hg.Band("price", lower=-1, upper=5)),
            (
                '{ band = ["opened_at", "bid_at"], upper = "5 seconds" }',
                hg.Band(left="opened_at", right="bid_at", upper="5 seconds"),
            ),
            ('{ compare = "price", op = "<" }', hg.Compare("price", "<")),
        ],
    )
    def test_may_ask_for_bands_and_comparisons(self, written: str, where: object) -> None:
        text = changed('key = "id"', "", changed('key = "auction"', ""))
        assert job_of(changed("[join]", f"[join]\nwhere = {written}", text)).join.where == where

    def test_may_bring_a_profile(self) -> None:
        found = profiled_auctions()
        Path("profile.json").write_text(found.to_json())
        job = job_of(changed('policy = "auto"', 'policy = "age"\nprofile = "profile.json"'))
        assert not isinstance(job.join.policy, Learned)
        assert job.join.rates == tuple(found.rates)

    def test_does_as_planned_where_a_profile_is_all_it_is_told(self) -> None:
        Path("profile.json").write_text(profiled_auctions().to_json())
        text = changed('policy = "auto"', 'profile = "profile.json"')
        text = changed('rows = 1000, memory = "64 MB"', 'rows = 10, split = "planned"', text)
        job = job_of(text)
        assert isinstance(job.join.policy, hg.policies.Age)
        assert job.join.budget.split == "pooled"

    def test_is_told_where_the_profile_is_of_other_streams(self) -> None:
        Path("profile.json").write_text(profiled_auctions().to_json())
        text = changed('policy = "auto"', 'profile = "profile.json"')
        text = changed('window = "10 minutes"', 'window = "11 minutes"', text)
        with pytest.raises(JobError, match=r"join\.profile: the left window is 11 minutes"):
            job_of(text)

    def test_is_not_run_before_it_is_planned(self) -> None:
        Path("job.toml").write_text(changed("rows = 1000", 'rows = 1000, split = "planned"'))
        shown = CliRunner().invoke(app, ["run", "--check", "job.toml"])
        assert shown.exit_code != 0
        line = next(n for n, it in enumerate(GOOD.splitlines(), 1) if it.startswith("budget"))
        assert f"job.toml:{line}: join.budget: split" in " ".join(shown.output.split())


class TestWhatIsWrong:
    @pytest.mark.parametrize(
        ("old", "new", "said"),
        [
            ('format = "parquet"', "format = 3", "left.format = 3 is not accepted: give a Spark"),
            ('format = "parquet"', 'frmat = "parquet"', 'did you mean "format"?'),
            ("[join]", "[joint]", 'did you mean "join"?'),
            ('name = "auctions"', "wholly = 1", "known are name, left, right, join, sink, spark"),
            ('path = "auctions"', 'path = "nowhere"', "nowhere is not there"),
            ('time = "opened_at"', 'time = "opened"', 'has no column "opened" (time): it has id'),
            ('key = "id"', 'key = ["id", "region"]', 'has no column "region" (key)'),
            ('key = "id"', "key = []", "left.key = [] is not accepted"),
            ('window = "10 minutes"', 'window = "10 mins"', 'write "10 minutes"'),
            ('window = "10 minutes"', 'window = "-3 rows"', "negative"),
            ('watermark = "1 second"', 'watermark = "soon"', "is not a duration"),
            ('subscribe = "bids"', "subscribe = [1]", "subscribe is not accepted"),
            ('subscribe = "bids"', 'subscribe = "${BIDS}"', "variable BIDS is not set"),
            ('subscribe = "bids"', 'subscribe = "${a b}"', "${a b} is not a variable"),
            ('subscribe = "bids"', '"kafka.ssl.key.password" = "x"', "looks like a secret"),
            ('auction = "bid.auction"', "auction = 1", "right.columns.auction = 1 is not accepted"),
            ("rows = 1000", "rows = 0", "budget of 0 rows"),
            ('"64 MB"', '"64 MX"', "is not a size"),
            ("rows = 1000", "rws = 1000", 'did you mean "rows"?'),
            ("rows = 1000", "split = 3", "split 3 is not accepted"),
            ("rows = 1000", "monitor = 2", "monitor=2 is not accepted"),
            ("rows = 1000", "cpu = true", "cpu=True is not accepted"),
            ('policy = "auto"', 'policy = "best"', "policy 'best' is unknown"),
            ('policy = "auto"', 'policy = "heeb"', "must be told how values move"),
            ('policy = "auto"', "seed = 1.5", "join.seed = 1.5 is not accepted"),
            ('policy = "auto"', "shards = 0", "join.shards = 0 is not accepted"),
            ('policy = "auto"', 'index = "heap"', "join.index: "),
            ('policy = "auto"', "index = 3", "join.index: "),
            ('policy = "auto"', 'goal = "most"', 'join.goal "most" is unknown'),
            ('policy = "auto"', 'goal = { kind = "sample", fraction = "x" }', 'fraction = "x"'),
            ('policy = "auto"', 'goal = { kind = "sample", shares = 1 }', '"shares" is not known'),
            ('policy = "auto"', 'goal = { kind = "max-importance" }', "neither side"),
            ('policy = "auto"', 'goal = { kind = "max-importance", left = {} }', "one of the two"),
            ('policy = "auto"', 'where = { band = "price" }', "a Band needs a limit"),
            ('policy = "auto"', 'where = { compare = "price", upper = 3 }', "upper does not go"),
            (
                'policy = "auto"',
                'where = { band = "prize", upper = 3 }',
                'no column "prize" (where)',
            ),
            ('policy = "auto"', 'profile = "none.json"', "cannot be read as a profile"),
            ('policy = "auto"', 'redefined = "desk"', 'is for the goal "max-importance"'),
            ('trigger = "10 seconds"', 'trigger = "once"', 'give "available-now"'),
            ('trigger = "10 seconds"', 'trigger = "10 s"', 'write "10 seconds"'),
            ('trigger = "10 seconds"', 'trigger = "0 seconds"', 'give "always"'),
            ('trigger = "10 seconds"', "partition_by = 3", "sink.partition_by = 3"),
            ('"spark.sql.shuffle.partitions" = 4', "shuffle = 4", "is not a setting of Spark"),
        ],
    )
    def test_is_said_with_its_line(self, old: str, new: str, said: str) -> None:
        text = changed(old, new)
        found = problems_of(text)
        assert (line_of(text, new), True) in [(line, said in message) for line, message in found]

    @pytest.mark.parametrize(
        ("left_out", "table", "said"),
        [
            ('format = "parquet"\npath = "auctions"', "[left]", "[left] has no format"),
            ('path = "auctions"', "[left]", "[left] has no path: give the folder"),
            ('time = "opened_at"', "[left]", "[left] has no time"),
            ('window = "0 seconds"', "[right]", "[right] has no window"),
            ('watermark = "1 second"', "[left]", "[left] has no watermark"),
            ('key = "id"', "[left]", "[left] has no key: give as many"),
            ('budget = { rows = 1000, memory = "64 MB" }', "[join]", "[join] has no budget"),
            ('path = "result"', "[sink]", "[sink] has no path"),
            ('checkpoint = "checkpoint"', "[sink]", "[sink] has no checkpoint"),
        ],
    )
    def test_what_is_missing_is_laid_to_its_table(
        self, left_out: str, table: str, said: str
    ) -> None:
        text = changed(left_out, "")
        found = problems_of(text)
        assert [line for line, message in found if said in message] == [line_of(text, table)]

    def test_a_join_without_keys_and_without_where_is_asked_for_either(self) -> None:
        text = changed('key = "id"', "", changed('key = "auction"', ""))
        assert [message for _, message in problems_of(text)] == [
            f"[{side}] has no key: give the column that must be equal on both sides, or join.where"
            for side in ("left", "right")
        ]

    def test_whole_tables_that_are_missing_are_named(self) -> None:
        messages = [message for _, message in problems_of("")]
        assert len(messages) == 4
        for table in ("left", "right", "join", "sink"):
            assert any(f"the file has no [{table}]" in message for message in messages)

    def test_all_of_it_is_said_at_once(self) -> None:
        text = GOOD
        for old, new in (
            ('window = "10 minutes"', 'window = "10 mins"'),
            ("rows = 1000", "rows = 0"),
            ('policy = "auto"', 'policy = "best"'),
            ('trigger = "10 seconds"', 'trigger = "once"'),
            ('name = "auctions"', "nam = 1"),
        ):
            text = changed(old, new, text)
        assert [line for line, _ in problems_of(text)] == [
            line_of(text, part) for part in ("nam = 1", "10 mins", "rows = 0", "best", "once")
        ]

    def test_parts_that_do_not_go_together_are_laid_to_the_join(self) -> None:
        text = changed('policy = "auto"', 'policy = "fifo"\ngoal = "sample"')
        ((line, message),) = problems_of(text)
        assert line == line_of(text, "[join]")
        assert "is not accepted with a sample" in message

    @pytest.mark.parametrize(
        ("old", "new"),
        [('"64 MB" }', '"64 MB"'), ('policy = "auto"', "policy = auto"), ("[join]", "[join")],
    )
    def test_what_is_no_toml_is_said_with_its_line(self, old: str, new: str) -> None:
        text = changed(old, new)
        ((line, message),) = problems_of(text)
        assert abs(line - line_of(text, new)) <= 1
        assert message.startswith("not valid TOML: ")
        assert "at line" not in message

    def test_a_file_that_ends_too_soon_is_said_at_its_end(self) -> None:
        ((line, _),) = problems_of("[left]\nformat =")
        assert line == 2

    def test_a_file_that_is_not_there_is_said_so(self) -> None:
        with pytest.raises(hg.SpecError, match=r"none\.toml cannot be read: No such file"):
            read_job("none.toml")


class TestSecrets:
    TEXT = changed(
        'options.subscribe = "bids"',
        """options."kafka.jaas" = "user=me password=${PASS}"
options."api.token" = "abc"
""",
    )

    def test_come_from_the_environment(self) -> None:
        job = job_of(self.TEXT, PASS="hunter2")
        assert job.right.options["kafka.jaas"].value == "user=me password=hunter2"

    def test_are_never_shown(self) -> None:
        job = job_of(self.TEXT, PASS="hunter2")
        console = Console(width=200, record=True)
        console.print(explained(job))
        for text in (console.export_text(), repr(job)):
            assert "hunter2" not in text
            assert "${PASS}" in text
        assert "abc" not in scrubbed("user abc, hunter2", job.settings)
        assert "hunter2" not in scrubbed("user abc, hunter2", job.settings)

    def test_a_dollar_before_a_brace_can_be_written(self) -> None:
        job = job_of(changed('subscribe = "bids"', 'subscribe = "a$${b}$c"'))
        assert job.right.options["subscribe"].value == "a${b}$c"


class TestTheCommand:
    def test_checks_and_says_what_would_run(self) -> None:
        Path("job.toml").write_text(GOOD)
        shown = CliRunner().invoke(app, ["run", "--check", "job.toml"])
        assert shown.exit_code == 0
        assert "within 1,000 rows and 64 MB" in shown.output
        assert "job.toml is in order" in shown.output

    def test_says_all_that_is_wrong_and_starts_nothing(self) -> None:
        Path("job.toml").write_text(changed("rows = 1000", "rows = 0"))
        shown = CliRunner().invoke(app, ["run", "job.toml"])
        assert shown.exit_code == 2
        assert shown.stderr.startswith("job.toml:27: join.budget.rows: budget of 0 rows")

    def test_a_plan_says_why_there_is_no_profile(self) -> None:
        Path("job.toml").write_text(GOOD)
        shown = CliRunner().invoke(app, ["plan", "job.toml"])
        assert shown.exit_code == 0
        assert "No profile: the right side is kafka, which has no end" in shown.output

    @pytest.mark.parametrize(
        ("budget", "said"),
        [
            ("rows = 10", "the budget of 10 rows is 8.33 % of that"),
            ('rows = 100, memory = "1 kB"', "the budget of 1 kB is"),
            ("rows = 1000", "the budget of 1,000 rows has room for it"),
            ("cpu = 0.5", "the budget sets no limit to that"),
        ],
    )
    def test_a_plan_holds_the_budget_against_what_is_needed(self, budget: str, said: str) -> None:
        job = job_of(changed('rows = 1000, memory = "64 MB"', budget))
        stored = Stored(peak=Both(100.0, 20.0), mean=Both(90.0, 10.0), bytes=12_000.0)
        found = SimpleNamespace(stored_rows=stored)
        assert said in verdict(job, found)

    def test_a_plan_says_what_to_do_and_to_expect(self) -> None:
        job = job_of(changed('rows = 1000, memory = "64 MB"', "rows = 10"))
        shown = advice(job, profiled_auctions())
        assert "left     AGE, 10 rows" in shown
        assert "expect   recall 0." in shown

    def test_the_reference_has_a_complete_example(self) -> None:
        example = REFERENCE.read_text().split("```toml\n")[1].split("```")[0]
        Path("data/auctions").mkdir(parents=True)
        job = job_of(example, BROKERS="localhost:9092", KAFKA_PASSWORD="x")
        assert isinstance(job.join.left.window, TimeWindow)

    def test_the_reference_has_every_key_and_no_other(self) -> None:
        asked: set[str] = set()
        plain = Section.any

        def noting(section: Section, name: str) -> Any:
            asked.add(".".join((*(str(part) for part in section.path), name)))
            return plain(section, name)

        by_category = '{ column = "category", values = { art = 3 } }'
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Section, "any", noting)
            for more in (
                'where = { band = "price", upper = 1 }',
                'goal = { kind = "sample" }',
                f'goal = {{ kind = "max-importance", left = {by_category} }}',
            ):
                job_of(changed("[join]", f"[join]\n{more}"))
        sides = ("right.", "left.columns.")
        reference = {name for name in asked if not name.startswith(sides)}
        listed = re.findall(r"^\| `([a-z_.]+)` \|", REFERENCE.read_text(), re.MULTILINE)
        assert sorted(listed) == sorted(reference)


def report(batch: int, **figures: Any) -> dict[str, Any]:
    """A progress report of Spark's, with the figures of the join."""
    from headgate.spark.join.join_metrics import FIGURES

    zero = dict.fromkeys(FIGURES, 0)
    recall = dict.fromkeys(
        f"{when}{name}"
        for when in ("", "total_")
        for name in ("recall", "recall_low", "recall_high")
    )
    return {
        "batchId": batch,
        "durationMs": {"triggerExecution": 1500},
        "eventTime": {"watermark": "2026-01-01T12:00:00.000Z"},
        "observedMetrics": {"headgate": zero | recall | figures},
    }


class TestTheView:
    REPORTS = (
        report(0, left_rows=10, right_rows=20, pairs=5, stored_rows=8, peak_rows=9, shed=2),
        report(1),
        report(
            2, left_rows=1, right_rows=2, pairs=1, stored_rows=7, retired=3, late=4,
            total_recall=0.5, total_recall_low=0.4, total_recall_high=0.6,
        ),
    )  # fmt: skip

    def test_batches_are_taken_in_once_and_those_without_rows_left_out(self) -> None:
        figures = Figures()
        assert [batch.number for batch in figures.read(self.REPORTS[:2])] == [0]
        assert [batch.number for batch in figures.read(self.REPORTS)] == [2]
        assert figures.batches == 2
        assert (figures.total["left_rows"], figures.total["pairs"]) == (11, 6)
        assert (figures.most_rows, figures.given_up, figures.total["late"]) == (9, 2, 4)
        assert figures.recall == hg.Estimate(0.5, 0.4, 0.6)

    def test_shows_what_a_user_asks_for(self) -> None:
        job, figures = job_of(GOOD), Figures()
        console = Console(width=120, record=True)
        console.print(View(job, figures, "spark.log"))
        figures.read(self.REPORTS)
        console.print(View(job, figures, "spark.log"))
        shown = console.export_text()
        for part in (
            "the first takes longest",
            "11 left, 22 right",
            "6 rows, 1 in the last batch",
            "50.0%, from 40.0% to 60.0%",
            "7 of 1,000 rows stored",
            "4 rows behind the watermark",
            "2, took 1.5 s; watermark 2026-01-01 12:00:00",
        ):
            assert part in shown
        assert batch_line(job, figures.last).startswith("batch 2: 3 rows in, 1 result rows, ")
        assert "made 6 result rows; recall 0.500 (0.400 to 0.600)" in summary(figures)

    def test_a_job_that_saw_nothing_says_so(self) -> None:
        assert summary(Figures()) == "no rows came"


names = st.sampled_from(["a", "b", "left", '"a b"', "'x.y'", '"\\u00e9"', "1", "a-b"])
scalars = st.sampled_from(["1", '"x = 2"', "true", "'# no'", "2026-01-01", '"""\n[q]\nw = 1\n"""'])
NAME = {written: next(iter(tomllib.loads(f"{written} = 0"))) for written in (
    "a", "b", "left", '"a b"', "'x.y'", '"\\u00e9"', "1", "a-b")}  # fmt: skip


class Writer:
    """Writes TOML and notes the line of all it writes, knowing nothing of how it is parsed."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.text = ""
        self.lines: dict[tuple[str | int, ...], int] = {}

    @property
    def line(self) -> int:
        return self.text.count("\n") + 1

    def gap(self) -> None:
        self.text += self.draw(st.sampled_from(["", "\n", "# [left]\n", "  # a = 1\n\n"]))

    def table(self, path: tuple[str | int, ...]) -> None:
        for written in self.draw(st.lists(names, unique=True, max_size=3)):
            self.gap()
            self.lines[*path, NAME[written]] = self.line
            self.text += f"{written} = "
            self.value((*path, NAME[written]), depth=2)
            self.text += self.draw(st.sampled_from(["\n", " # c\n"]))

    def value(self, path: tuple[str | int, ...], depth: int) -> None:
        kind = self.draw(st.sampled_from(["scalar", "array", "inline"] if depth else ["scalar"]))
        if kind == "scalar":
            self.text += self.draw(scalars)
        elif kind == "array":
            self.text += "["
            for number in range(self.draw(st.integers(0, 3))):
                self.text += self.draw(st.sampled_from(["", "\n", " # [x]\n"]))
                self.lines[*path, number] = self.line
                self.value((*path, number), depth - 1)
                self.text += ","
            self.text += "]"
        else:
            self.text += "{ "
            inside = self.draw(st.lists(names, unique=True, max_size=2))
            for place, written in enumerate(inside):
                self.text += ", " if place else ""
                self.lines[*path, NAME[written]] = self.line
                self.text += f"{written} = "
                self.value((*path, NAME[written]), depth - 1)
            self.text += " }"


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[tuple[str | int, ...], int]]:
    """A TOML text, and the line of every key and array element in it."""
    writer = Writer(draw)
    for written in draw(st.lists(names, unique=True, max_size=3)):
        writer.gap()
        repeated = draw(st.integers(0, 2))
        path: tuple[str | int, ...] = (NAME[written],)
        if repeated:
            for number in range(repeated):
                writer.lines[path] = writer.lines[*path, number] = writer.line
                writer.text += f"[[ {written} ]]\n"
                writer.table((*path, number))
        else:
            writer.lines[path] = writer.line
            writer.text += f"[{written}]\n"
            writer.table(path)
            if draw(st.booleans()) and not any(
                found[:2] == (*path, "inner") for found in writer.lines
            ):
                writer.lines[*path, "inner"] = writer.line
                writer.text += f"[{written} . inner]\n"
                writer.table((*path, "inner"))
    return writer.text, writer.lines


def paths_in(values: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    items = values.items() if isinstance(values, dict) else enumerate(values)
    inner = (
        [(*path, name), *(paths_in(value, (*path, name)) if isinstance(value, dict | list) else [])]
        for name, value in items
    )
    return list(itertools.chain.from_iterable(inner))


class TestLines:
    @given(documents())
    def test_every_value_that_tomllib_finds_has_the_line_it_was_written_on(
        self, written: tuple[str, dict[tuple[str | int, ...], int]]
    ) -> None:
        text, expected = written
        lines = Lines(text)
        assert set(lines) == set(paths_in(tomllib.loads(text)))
        assert {path: lines.of(path) for path in lines} == expected

    def test_dotted_keys_and_tables_in_any_order_are_found(self) -> None:
        text = '[a.b]\nx = 1\n[c]\nd.e.f = 1\nd.e."g h" = 2\n[a]\ny = 2\n'
        lines = Lines(text)
        assert set(lines) == set(paths_in(tomllib.loads(text)))
        assert lines.of(("a",)) == 6
        assert lines.of(("a", "b", "x")) == 2
        assert lines.of(("c", "d", "e", "g h")) == 5

    def test_what_is_nowhere_is_on_the_first_line(self) -> None:
        assert Lines("").of(("left", "format")) == 1
