"""Makes machine code of LLVM modules, and links it into a shared library."""

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from headgate.compiling.machine_library import CONTENTS

TRIPLES = {"x86_64": "x86_64-unknown-linux-gnu", "aarch64": "aarch64-unknown-linux-gnu"}
PROCESSORS = {"x86_64": "x86-64", "aarch64": "generic"}
OLDEST_LIBC = "2.17"
"""The library must run on every Linux that Python's wheels run on (manylinux2014)."""


class BuildError(RuntimeError):
    """The library could not be built; says what to install."""


def object_code(modules: Sequence[bytes], contents: str, machine: str) -> bytes:
    """The machine code of all modules, with the table of contents, for a kind of machine."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(TRIPLES[machine]).create_target_machine(
        cpu=PROCESSORS[machine], features="", opt=3, reloc="pic", codemodel="default"
    )
    whole = llvm.parse_assembly(_constant(CONTENTS, contents))
    whole.triple, whole.data_layout = TRIPLES[machine], str(target.target_data)
    for bitcode in modules:
        module = llvm.parse_bitcode(bitcode)
        module.triple, module.data_layout = TRIPLES[machine], str(target.target_data)
        whole.link_in(module)
    builder: Any = llvm.create_pass_builder(
        target, llvm.create_pipeline_tuning_options(speed_level=3)
    )
    passes: Any = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(whole, builder)
    whole.verify()
    made: bytes = target.emit_object(whole)
    return made


def link(made: bytes, path: Path, machine: str, portable: bool) -> None:
    """Link machine code into a shared library that needs only the C library."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        code, library = Path(folder) / "code.o", Path(folder) / path.name
        code.write_bytes(made)
        # -z defs: a symbol that nobody has would be found missing only when it is called.
        options = ["-shared", "-s", "-Wl,-z,defs", "-o", str(library), str(code), "-lm"]
        done = subprocess.run(
            [*_linker(machine, portable), *options], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise BuildError(f"linking the library of machine code failed:\n{done.stderr}")
        # Replaced at once: a process that has the old one loaded keeps it.
        beside = path.with_suffix(".new")
        shutil.copyfile(library, beside)
        beside.replace(path)


def _linker(machine: str, portable: bool) -> list[str]:
    """Zig brings the C libraries of all machines; a compiler of this machine has its own alone."""
    if importlib.util.find_spec("ziglang") is not None:
        target = f"{machine}-linux-gnu.{OLDEST_LIBC}"
        return [sys.executable, "-m", "ziglang", "cc", "-target", target]
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if portable or compiler is None:
        raise BuildError(
            "linking the library of machine code needs "
            + ("" if portable else "a C compiler (on Debian: apt-get install gcc libc6-dev) or ")
            + "Zig (pip install ziglang)"
        )
    return [compiler]


def _constant(name: str, text: str) -> str:
    """A text, with a zero at its end, as a module of its own."""
    data = text.encode() + b"\0"
    letters = "".join(f"\\{byte:02x}" for byte in data)
    return f'@{name} = constant [{len(data)} x i8] c"{letters}"\n'
