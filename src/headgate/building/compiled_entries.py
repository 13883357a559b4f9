"""Compiles declared functions to LLVM modules, each with one symbol to call.

Numba optimises each function it compiles together with all that it calls, so an inner helper is
optimised once for every function around it. Here only the whole of an entry is, and nobody calls
its helpers by themselves.
"""

import time
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm
from numba import njit, types

from headgate.building import declared_entries
from headgate.building.entry_types import (
    NUMBERS,
    TABLE,
    described,
    reader,
    types_handed_over,
    types_of,
    writer,
)
from headgate.building.without_native_code import keep_modules_only, optimise
from headgate.compiling import jit
from headgate.compiling.jit import SCORE
from headgate.compiling.tuple_reference import words_of

AS_C_FUNCTION = """
define double @{symbol}(i64 %one, i64 %two, i64 %three, double %parameter) {{
  %result = alloca double
  %failure = alloca ptr
  %status = call i32 @{inner}(
      ptr %result, ptr %failure, i64 %one, i64 %two, i64 %three, double %parameter)
  %value = load double, ptr %result
  ret double %value
}}
"""
"""Numba's functions return a status, and their result by reference."""
DECLARED = "declare i32 @{inner}(ptr, ptr, i64, i64, i64, double)\n"


@dataclass(frozen=True)
class Module:
    """The machine-independent code of an entry, and what the table of contents says of it."""

    name: str
    symbol: str
    bitcode: bytes
    contents: dict[str, Any]
    seconds: float


def compile_entries(numbers: tuple[int, ...]) -> list[Module]:
    """Compile some of `declared_entries.ENTRIES`; what they share is compiled once."""
    keep_modules_only()
    return [_compiled_entry(number) for number in numbers]


def _compiled_entry(number: int) -> Module:
    entry = declared_entries.ENTRIES[number]
    began = time.perf_counter()
    arguments = types_of(entry.examples)
    read, write, target = reader(arguments), writer(words_of(arguments)), entry.function

    def run(table: Any) -> None:
        write(table, target(*read(table)))

    made = _compiled(run, (TABLE,))
    taken = tuple(types_handed_over(arguments).types)
    returned = jit.to_compile_into(target).overloads[taken].signature.return_type
    is_tuple = isinstance(returned, types.BaseTuple)
    parts = returned.types if is_tuple else [] if returned == types.none else [returned]
    symbol = f"headgate_entry_{number}"
    contents = {
        "symbol": symbol,
        "takes": [described(kind) for kind in arguments.types],
        "returns": [NUMBERS[kind] for kind in parts],
        "returns_tuple": is_tuple,
    }
    bitcode = _alone(made.library, made.fndesc.mangled_name, symbol)
    return Module(target.name, symbol, bitcode, contents, time.perf_counter() - began)


def compile_scores() -> list[Module]:
    """Compile all of `declared_entries.SCORES`, to be called as C functions."""
    keep_modules_only()
    return [_compiled_score(number) for number in range(len(declared_entries.SCORES))]


def _compiled_score(number: int) -> Module:
    score = declared_entries.SCORES[number]
    began = time.perf_counter()
    made = _compiled(score.function, SCORE)
    symbol = f"headgate_score_{number}"
    inner = f"{symbol}_in_numba"
    wrapper = AS_C_FUNCTION.format(symbol=symbol, inner=inner)
    bitcode = _alone(made.library, made.fndesc.mangled_name, inner, wrapper)
    return Module(score.name, symbol, bitcode, {"symbol": symbol}, time.perf_counter() - began)


def _compiled(function: Any, signature: Any) -> Any:
    """What Numba makes of a function, not yet optimised."""
    untyped: Any = njit
    (made,) = untyped(signature, **jit.OPTIONS, **jit.WITHIN)(function).overloads.values()
    return made


def _alone(library: Any, mangled: str, symbol: str, wrapper: str = "") -> bytes:
    """An optimised module of which others see one symbol: names inside repeat from process to
    process.

    As bitcode: names of blocks that inlining makes of Numba's long ones are too long for text.
    """
    module = library._final_module.clone()
    for function in module.functions:
        if function.is_declaration:
            continue
        if function.name == mangled:
            function.name = symbol
            function.linkage = "external"
        else:
            function.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    if wrapper:
        module.link_in(llvm.parse_assembly(DECLARED.format(inner=symbol) + wrapper))
    optimise(library, module)
    bitcode: bytes = module.as_bitcode()
    return bitcode
