#!/usr/bin/env python3
"""Write python/pysaccade/_native/_abi.py from include/saccade: constants, structs and prototypes for ctypes.

Of tensor.h, whose calls take tens of microseconds, structs without texts go as bytes: FORMATS says how `struct` packs
them, and their pointers are addresses. ctypes takes bytes for an address.

    python3 python/tools/make_abi.py > python/pysaccade/_native/_abi.py

The headers are ours and plainly written, so a few patterns read them; what they can't read is an error. A test runs
this and compares, and another one asks a C compiler for every size, offset and constant.
"""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "include" / "saccade"
HEADERS = [FOLDER / name for name in ("saccade.h", "picture.h", "views.h", "tensor.h")]
PACKED = FOLDER / "tensor.h"  # its structs also go as bytes

# C type -> (ctypes, the alias of a field of that type, what Python reads from it, the letter of `struct`).
SCALARS = {
    "int": ("c_int", "Int", "int", "i"),
    "unsigned": ("c_uint", "Unsigned", "int", "I"),
    "size_t": ("c_size_t", "Size", "int", "N"),
    "int32_t": ("c_int32", "Int32", "int", "i"),
    "uint32_t": ("c_uint32", "UInt32", "int", "I"),
    "int64_t": ("c_int64", "Int64", "int", "q"),
    "uint64_t": ("c_uint64", "UInt64", "int", "Q"),
    "uint8_t": ("c_uint8", "UInt8", "int", "B"),
    "float": ("c_float", "Float", "float", "f"),
    "double": ("c_double", "Double", "float", "d"),
}
POINTERS = {"c_char_p": ("Text", "bytes | None"), "c_void_p": ("Address", "int | None")}
PREAMBLE = '''"""libsaccade's C interface for ctypes. Written by python/tools/make_abi.py from the headers: don't edit.

Handles (`saccade_stream*` and the like) are addresses. Pointers to samples are addresses too.
"""

import ctypes
from ctypes import %s
from typing import Annotated, Any, TypeVar

_Struct = TypeVar("_Struct", bound=type[ctypes.Structure])

# A struct's field: what Python reads from it, and its C type
%s


def _laid_out(struct: _Struct) -> _Struct:
    struct._fields_ = [(name, kind.__metadata__[0]) for name, kind in struct.__annotations__.items()]
    return struct

'''
LOADER = '''
# function: (result, arguments)
PROTOTYPES: dict[str, tuple[Any, list[Any]]] = {
%s
}


def declare(library: ctypes.CDLL) -> None:
    """Give the library's functions their types. One that an older library lacks is left out."""
    for name, (result, arguments) in PROTOTYPES.items():
        function = getattr(library, name, None)
        if function is not None:
            function.restype = result
            function.argtypes = arguments
'''


class Header:
    """What the headers declare, in their order."""

    def __init__(self, text: str, packed: str) -> None:
        """Read the headers' text, and of structs that go as bytes their header's."""
        bare = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
        self.version = [int(re.findall(rf"SACCADE_VERSION_{part} (\d+)", bare)[0]) for part in ("MAJOR", "MINOR")]
        self.enums = [
            (name, self._constants(body)) for body, name in re.findall(r"typedef enum \w+ \{(.*?)\} (\w+);", bare, re.S)
        ]
        structs = re.findall(r"typedef struct \w+ \{(.*?)\} (\w+);", bare, re.S)
        self.structs = [(name, list(self._fields(body))) for body, name in structs]
        texts = {name for name, fields in self.structs if any("char" in kind for _, kind in fields)}
        self.packed = {name for name, _ in self.structs if f"}} {name};" in packed} - texts
        self.callbacks = re.findall(r"typedef (\w+) \(\*(\w+)\)\((.*?)\);", bare, re.S)
        self.handles = re.findall(r"typedef struct (\w+) \1;", bare)
        self.functions = re.findall(r"SACCADE_API ([\w ]+?[ *]+)(\w+)\((.*?)\);", bare, re.S)

    @staticmethod
    def _constants(body: str) -> list[tuple[str, int]]:
        return [(name, int(value, 0)) for name, value in re.findall(r"(\w+) = (-?\w+)", body)]

    @staticmethod
    def _fields(body: str) -> Iterator[tuple[str, str]]:
        """(name, C type, with "[n]" for an array) of each field; "int32_t a, b;" are two."""
        for line in filter(None, (part.strip() for part in body.split(";"))):
            first, *others = (part.strip() for part in line.split(","))
            kind, name = re.fullmatch(r"(.*?[\s*])(\w+(?:\[\w+\])?)", first, re.S).groups()  # type: ignore[union-attr]
            for each in (name, *others):
                base, _, length = each.partition("[")
                yield base, " ".join(kind.split()) + ("[" + length if length else "")

    def ctype(self, kind: str, *, field: bool) -> str:
        """The ctypes expression of a C type. `field`: of a struct, where a text is read as bytes."""
        array = re.fullmatch(r"(.*?) ?\[(\d+)\]", kind)
        if array:
            return f"{self.ctype(array[1], field=field)} * {array[2]}" if field else "c_void_p"
        plain = " ".join(kind.replace("const", "").split()).replace(" *", "*")
        names = {name for name, _ in self.structs}
        if plain in SCALARS:
            return SCALARS[plain][0]
        if plain in {name for name, _ in self.enums}:
            return "c_int"
        if plain in {name for _, name, _ in self.callbacks}:
            return plain
        if plain == "char*":
            return "c_char_p"
        if plain == "char**":
            return "POINTER(c_char_p)"
        if plain.endswith("**"):
            return "POINTER(c_void_p)"
        if plain.endswith("*") and plain[:-1] in self.packed:
            return "c_void_p"
        if plain.endswith("*") and plain[:-1] in names:
            return f"POINTER({plain[:-1]})"
        if plain in names:
            return plain
        if plain.endswith("*") and (plain[:-1] in {*SCALARS, "void"} or plain[:-1] in self.handles):
            return "c_void_p"
        raise SystemExit(f"make_abi: no rule for the type {kind!r}")

    def format(self, fields: list[tuple[str, str]]) -> str:
        """How `struct` packs a struct of these fields, as C lays it out."""
        letters = ""
        for _, kind in fields:
            plain, _, length = kind.partition("[")
            expression = self.ctype(plain, field=True)
            found = [letter for ctype, _, _, letter in SCALARS.values() if expression == ctype]
            letters += (found[0] if found else "P") * int(length.rstrip("]") or 1)
        runs = [(letter, len(list(run))) for letter, run in groupby(letters)]
        text = "@" + "".join(letter if count == 1 else f"{count}{letter}" for letter, count in runs)
        if struct.calcsize(text) % 8:
            raise SystemExit(f"make_abi: {text} is padded at its end; add a field to the struct")
        return text

    def annotation(self, kind: str) -> str:
        """Of a field of that C type."""
        expression = self.ctype(kind, field=True)
        for ctype, alias, *_ in SCALARS.values():
            if expression == ctype:
                return alias
        return POINTERS[expression][0] if expression in POINTERS else f"Annotated[Any, {expression}]"

    def arguments(self, text: str) -> list[str]:
        """The ctypes expressions of a function's arguments."""
        parts = [part.strip() for part in text.split(",")]
        if parts == ["void"]:
            return []
        kinds = [re.fullmatch(r"(.*?[\s*])\w+(\[\d+\])?", part, re.S) for part in parts]
        return [self.ctype(kind[1].strip() + (" " + kind[2] if kind[2] else ""), field=False) for kind in kinds if kind]


def lines_of(header: Header) -> Iterator[str]:
    """The module's lines, without the preamble."""
    yield f"VERSION = ({header.version[0]}, {header.version[1]})  # of the header: major, minor"
    for name, constants in header.enums:
        yield f"\n# {name}"
        yield from (f"{constant} = {value}" for constant, value in constants)
    for name, fields in header.structs:
        yield f"\n\n@_laid_out\nclass {name}(ctypes.Structure):  # noqa: N801"
        yield from (f"    {field}: {header.annotation(kind)}" for field, kind in fields)
    yield "\n\n# Structs that go as bytes: how `struct` packs them"
    yield "FORMATS = {"
    yield from (f'    "{name}": "{header.format(fields)}",' for name, fields in header.structs if name in header.packed)
    yield "}"
    if header.callbacks:
        yield "\n"
    for result, name, arguments in header.callbacks:
        parts = ["None" if result == "void" else header.ctype(result, field=False), *header.arguments(arguments)]
        yield from call(f"{name} = CFUNCTYPE(", parts, ")")
    rows = []
    for result, name, arguments in header.functions:
        kind = " ".join(result.split())
        returned = "None" if kind == "void" else header.ctype(kind, field=False)
        rows += row(name, returned, header.arguments(arguments))
    yield "\n" + LOADER % "\n".join(rows)


def call(begin: str, parts: list[str], end: str) -> list[str]:
    """One line, or a line for each part where that is too long."""
    line = begin + ", ".join(parts) + end
    return [line] if len(line) <= 120 else [begin, *(f"    {part}," for part in parts), end]


def row(name: str, returned: str, arguments: list[str]) -> list[str]:
    """A function's line of PROTOTYPES, or as many as the formatter makes of one that is too long."""
    line = f'    "{name}": ({returned}, [{", ".join(arguments)}]),'
    if len(line) <= 120:
        return [line]
    inner = [f"            {argument}," for argument in arguments]
    return [f'    "{name}": (', f"        {returned},", "        [", *inner, "        ],", "    ),"]


def main() -> None:
    """Write the module to standard output."""
    header = Header("".join(path.read_text() for path in HEADERS), PACKED.read_text())
    lines = list(lines_of(header))
    text = "\n".join(lines)
    kinds = {ctype: (alias, read) for ctype, alias, read, _ in SCALARS.values()} | POINTERS
    aliases = {ctype: kind for ctype, kind in kinds.items() if re.search(rf": {kind[0]}$", text, re.M)}
    used = sorted(set(re.findall(r"\b(?:c_\w+|POINTER|CFUNCTYPE)\b", text)) | set(aliases))
    fields = "\n".join(f"{alias} = Annotated[{read}, {ctype}]" for ctype, (alias, read) in aliases.items())
    sys.stdout.write(PREAMBLE % (", ".join(used), fields) + "\n" + text)


if __name__ == "__main__":
    main()
