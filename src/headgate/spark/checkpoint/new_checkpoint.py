"""A checkpoint in the making: made beside its place, stage by stage, and moved there when whole.

Stages that are done are not done again when the work was interrupted. What is made of another
checkpoint, or with other arguments, is started anew.
"""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from headgate.spark.checkpoint.checkpoint_files import (
    STATE,
    CheckpointFiles,
    Logged,
    check_place,
    operator_file,
)

SUFFIX = ".unfinished"
WHOLE, STAGES, ORDER = "checkpoint", "stages", "order.json"


class NewCheckpoint:
    """A folder beside the place of the checkpoint, which holds what is done so far.

    Parameters
    ----------
    to
        Where the checkpoint will be.
    order
        What it is made of; work on another order is thrown away.
    """

    def __init__(self, to: Path, order: dict[str, Any]) -> None:
        self.to = to
        self.folder = to.with_name(to.name + SUFFIX)
        text = json.dumps(order, sort_keys=True)
        file = self.folder / ORDER
        if not file.is_file() or file.read_text() != text:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
            file.write_text(text)

    @classmethod
    def at(cls, to: Path, old: CheckpointFiles, **order: Any) -> "NewCheckpoint":
        """A checkpoint to be made of another, as of its last batch that is done."""
        check_place(to, old.path)
        origin = {"from": str(old.path.resolve()), "batch": old.last_batch, "begun": old.begun}
        return cls(to, origin | order)

    def stage(self, name: str, make: Callable[[Path], None], again: bool = True) -> Path:
        """The folder of a stage, made if it was not finished.

        ``again`` says whether a part of it is in the way; else it goes on with what is there.
        """
        folder, done = self.folder / name, self.folder / STAGES / name
        if not done.is_file():
            if again:
                shutil.rmtree(folder, ignore_errors=True)
            make(folder)
            done.parent.mkdir(parents=True, exist_ok=True)
            done.touch()
        return folder

    def finish(
        self,
        old: CheckpointFiles,
        states: dict[int, Path],
        conf: dict[str, str],
        as_it_is: Sequence[int] = (),
    ) -> None:
        """Put the checkpoint together, and in its place.

        ``states`` are folders of state after one batch, by the number of the operator; they become
        the state after the last batch of the old checkpoint. ``conf`` replaces settings. The state
        of the operators ``as_it_is`` is copied.
        """
        whole = self.folder / WHOLE
        shutil.rmtree(whole, ignore_errors=True)
        whole.mkdir()
        version = old.last_batch + 1
        for number, folder in states.items():
            target = whole / STATE / str(number)
            shutil.copytree(folder, target)
            _raise_version(target, version)
            _readdress(target, self.to, number)
        for number in as_it_is:
            target = whole / STATE / str(number)
            shutil.copytree(old.operator_folder(number), target)
            _readdress(target, self.to, number)
        old.copy_progress(whole, conf)
        if self.to.is_dir():
            self.to.rmdir()
        whole.rename(self.to)
        shutil.rmtree(self.folder)


def _raise_version(folder: Path, version: int) -> None:
    """Make state after the first batch the state after a later one.

    A file of changes from nothing is the whole state, as a snapshot is.
    """
    for file in [*folder.glob("*/1.*"), *folder.glob("*/*/1.*")]:
        kind = {".zip": ".zip", ".delta": ".snapshot", ".snapshot": ".snapshot"}.get(file.suffix)
        if kind is not None:
            file.rename(file.with_name(f"{version}{kind}"))
        sum_of_file = file.with_name(f".{file.name}.crc")
        if sum_of_file.exists():
            if kind is not None:
                sum_of_file.rename(file.with_name(f".{version}{kind}.crc"))
            else:
                sum_of_file.unlink()
        if kind is None:
            file.unlink()


def _readdress(folder: Path, checkpoint: Path, number: int) -> None:
    """Let metadata name the files at their new place, and the operator by its number."""
    file = operator_file(folder)
    if file is None:
        return
    for each in [file, *file.parent.iterdir()]:
        if not each.name.isdigit() and each != file:
            continue
        logged = Logged.read(each)
        logged.facts["operatorInfo"]["operatorId"] = number
        for store in logged.facts.get("stateStoreInfo", []):
            if "stateSchemaFilePaths" in store:
                store["stateSchemaFilePaths"] = [
                    _moved(path, checkpoint, number) for path in store["stateSchemaFilePaths"]
                ]
        each.with_name(f".{each.name}.crc").unlink(missing_ok=True)
        logged.write(each)


def _moved(path: str, checkpoint: Path, number: int) -> str:
    """The address of a file of an operator's state in another checkpoint."""
    inside = path.rpartition("/_stateSchema/")[2]
    return f"file:{quote(str(checkpoint.resolve()))}/{STATE}/{number}/_stateSchema/{inside}"
