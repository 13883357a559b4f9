"""How Spark writes the files of a checkpoint on a local disk: through Hadoop's older interface.

Without Hadoop's native library, which Spark does not bring, the newer one asks a process,
``readlink``, about either name and its checksum whenever a file is renamed, and asks twice. A batch
of a join writes six files, for which that starts 48 processes. The older one renames without.

Either writes the same files in the same order: a temporary one, its checksum, and their new names.
Spark itself uses the older one wherever there is no newer.
"""

from headgate.spark.session_access import SessionAccess
from headgate.spec import SpecError

CHECKPOINT_WRITER = "spark.sql.streaming.checkpointFileManagerClass"
_STREAMING = "org.apache.spark.sql.execution.streaming."
_NAMES = (
    f"{_STREAMING}checkpointing.FileSystemBasedCheckpointFileManager",
    f"{_STREAMING}FileSystemBasedCheckpointFileManager",
)
"""Of later and earlier versions of Spark."""


def local_writer(access: SessionAccess) -> str:
    """The class that writes checkpoints without such processes; raises if disks are not local."""
    if not access.is_local or not access.default_files.startswith("file:"):
        raise SpecError(
            "local_checkpoints=True is for a classic session on one machine (local[...]) whose "
            "files are on its own disks; leave it out here"
        )
    found = next((name for name in _NAMES if access.has_class(name)), None)
    if found is None:
        raise SpecError("local_checkpoints=True: this Spark has no such writer; leave it out")
    return found
