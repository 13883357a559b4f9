"""Job files: what is wrong with one is said in full, each with its line, and no secret is told."""

from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

import headgate as hg
from headgate.cli.main import app
from headgate.jobs import JobError, read_job
from headgate.jobs.environment import scrubbed
from headgate.jobs.explanation import explained
from headgate.policies import Learned
from tests.jobs.job_files import GOOD, changed, job_of, line_of, problems_of, profiled_auctions


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

    def test_may_be_of_any_kind(self) -> None:
        text = changed('policy = "auto"', 'how = "left"\nunmatched = "all"')
        join = job_of(text).join
        assert (join.how, join.unmatched) == ("left", "all")
        wrong = changed('policy = "auto"', 'how = "outer"')
        (problem,) = problems_of(wrong)
        assert problem[0] == line_of(wrong, 'how = "outer"')
        assert 'give "inner", "left"' in problem[1]

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


class TestPaths:
    @pytest.mark.parametrize("where", ['remote = "sc://host:15002"', 'master = "yarn"'])
    def test_of_a_cluster_or_server_are_not_looked_for_here(self, where: str) -> None:
        text = changed('path = "auctions"', 'path = "nowhere"')
        assert job_of(f"{text}\nspark.{where}\n").left.options["path"].value == "nowhere"
        (problem,) = problems_of(f'{text}\nspark.master = "local[2]"\n')
        assert "nowhere is not there" in problem[1]


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
            ('policy = "auto"', 'policy = "heeb"', "needs a model of how values move"),
            ('policy = "auto"', "seed = 1.5", "join.seed = 1.5 is not accepted"),
            ('policy = "auto"', "shards = 0", "join.shards = 0 is not accepted"),
            ('policy = "auto"', 'index = "heap"', "join.index: "),
            ('policy = "auto"', "index = 3", "join.index: "),
            ('policy = "auto"', 'goal = "most"', 'join.goal "most" is unknown'),
            ('policy = "auto"', 'goal = { kind = "sample", fraction = "x" }', 'fraction = "x"'),
            ('policy = "auto"', 'goal = { kind = "sample", shares = 1 }', '"shares" is not known'),
            ('policy = "auto"', 'goal = { kind = "max-importance" }', "neither side"),
            (
                'policy = "auto"',
                'goal = { kind = "max-importance", left = {} }',
                "of an unknown kind",
            ),
            ('policy = "auto"', 'where = { band = "price" }', "a Band needs a limit"),
            (
                'policy = "auto"',
                'where = { compare = "price", upper = 3 }',
                "upper does not fit here",
            ),
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
