"""Looks into a module without running it: which libraries and symbols it asks for, and what it says of its system."""

import hashlib
import re
import struct
from pathlib import Path

import pefile
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from macholib.mach_o import LC_BUILD_VERSION, LC_CODE_SIGNATURE, LC_LOAD_DYLIB, LC_RPATH
from macholib.MachO import MachO
from macholib.SymbolTable import SymbolTable
from targets import Target

INIT = "PyInit__core"
NEWEST_GLIBC = (2, 28)
LINUX_LIBRARIES = {"libc.so.6", "libm.so.6", "libpthread.so.0"}
WINDOWS_LIBRARIES = re.compile(r"python3\.dll|kernel32\.dll|api-ms-win-crt-[a-z]+-l1-1-0\.dll", re.IGNORECASE)
MACOS_LIBRARIES = {"/usr/lib/libSystem.B.dylib"}
LINKERS_OWN = {"__mh_dylib_header", "___dso_handle"}  # in the symbol table, not exported
MACHINES = {"macos-x64": 0x01000007, "macos-arm64": 0x0100000C}
OLDEST_MACOS = (11, 0)  # what Blender 4.2 needs is 10.15 on Intel, 11.0 on Apple's processors


class Unfit(Exception):
    """A binary is not what its wheel says."""


def _expect(path: Path, holds: bool, what: str) -> None:
    if not holds:
        raise Unfit(f"{path.name}: {what}")


def inspect(path: Path, target: Target) -> str:
    """One line on what was found; raises Unfit."""
    system = target.platform.partition("-")[0]
    look = {"linux": _linux, "windows": _windows, "macos": _macos}[system]
    try:
        return look(path, target)
    except (ELFError, pefile.PEFormatError, ValueError) as error:
        raise Unfit(f"{path.name}: is no binary for {target.platform}: {error}") from error


def _linux(path: Path, target: Target) -> str:
    with path.open("rb") as file:
        elf = ELFFile(file)
        _expect(path, elf["e_machine"] == "EM_X86_64", f"is for {elf['e_machine']}, not for {target.platform}")
        dynamic = elf.get_section_by_name(".dynamic")
        tags = [(tag.entry.d_tag, tag) for tag in dynamic.iter_tags()]
        needed = {tag.needed for kind, tag in tags if kind == "DT_NEEDED"}
        _expect(path, needed <= LINUX_LIBRARIES, f"needs {sorted(needed - LINUX_LIBRARIES)}")
        _expect(path, not any(kind in ("DT_RUNPATH", "DT_RPATH") for kind, _ in tags), "has a search path of its own")
        symbols = [symbol for symbol in elf.get_section_by_name(".dynsym").iter_symbols() if symbol.name]
        exported = {symbol.name for symbol in symbols if symbol["st_shndx"] != "SHN_UNDEF"}
        _expect(path, exported == {INIT}, f"exports {sorted(exported)}, not {INIT} alone")
        versions = [
            auxiliary.name
            for _, auxiliaries in elf.get_section_by_name(".gnu.version_r").iter_versions()
            for auxiliary in auxiliaries
        ]
    newest = max(tuple(map(int, version.removeprefix("GLIBC_").split("."))) for version in versions)
    _expect(path, newest <= NEWEST_GLIBC, f"needs glibc {newest}, newer than {NEWEST_GLIBC}")
    return f"glibc {'.'.join(map(str, newest[:2]))}; {', '.join(sorted(needed))}"


def _windows(path: Path, target: Target) -> str:
    binary = pefile.PE(path)
    _expect(path, binary.FILE_HEADER.Machine == 0x8664, f"is not for {target.platform}")
    imported = [entry.dll.decode() for entry in binary.DIRECTORY_ENTRY_IMPORT]
    foreign = [name for name in imported if not WINDOWS_LIBRARIES.fullmatch(name)]
    _expect(path, not foreign, f"imports {foreign}")
    _expect(path, "python3.dll" in imported, "does not import python3.dll")
    exported = {symbol.name.decode() for symbol in binary.DIRECTORY_ENTRY_EXPORT.symbols}
    _expect(path, exported == {INIT}, f"exports {sorted(exported)}, not {INIT} alone")
    return ", ".join(sorted(imported, key=str.lower))


def _macos(path: Path, target: Target) -> str:
    binary = MachO(str(path))
    (header,) = binary.headers
    _expect(path, header.header.cputype == MACHINES[target.platform], f"is not for {target.platform}")
    commands = {load.cmd: (command, data) for load, command, data in header.commands}
    libraries = {data.rstrip(b"\0").decode() for load, _command, data in header.commands if load.cmd == LC_LOAD_DYLIB}
    _expect(path, libraries <= MACOS_LIBRARIES, f"needs {sorted(libraries - MACOS_LIBRARIES)}")
    _expect(path, LC_RPATH not in commands, "has a search path of its own")
    _expect(path, LC_BUILD_VERSION in commands, "does not say from which macOS on it runs")
    packed = commands[LC_BUILD_VERSION][0].minos
    oldest = packed >> 16, packed >> 8 & 0xFF
    _expect(path, oldest == OLDEST_MACOS, f"is for macOS {oldest}, not {OLDEST_MACOS}")
    defined = {name.decode() for _, name in SymbolTable(binary).extdefsyms} - LINKERS_OWN
    _expect(path, defined == {f"_{INIT}"}, f"exports {sorted(defined)}, not _{INIT} alone")
    signed = LC_CODE_SIGNATURE in commands
    if signed:
        signature = commands[LC_CODE_SIGNATURE][0]
        data = path.read_bytes()
        _expect(path, _is_signed(data, signature.dataoff, signature.datasize), "has no valid ad-hoc signature")
    else:  # Intel Macs run unsigned libraries, the others nothing unsigned
        _expect(path, target.platform == "macos-x64", "is not signed")
    return f"macOS {oldest[0]}.{oldest[1]}; {', '.join(libraries)}; {'signed ad hoc' if signed else 'not signed'}"


def _is_signed(data: bytes, start: int, size: int) -> bool:
    """Whether the signature is an ad-hoc one and each page of the file has the SHA-256 that it says."""
    blob = data[start : start + size]
    magic, _length, count = struct.unpack_from(">III", blob)
    index = dict(struct.unpack_from(">II", blob, 12 + 8 * k) for k in range(count))
    if magic != 0xFADE0CC0 or 0 not in index:
        return False
    directory = blob[index[0] :]
    head = struct.unpack_from(">9I4B", directory)
    magic, flags, hashes, slots, limit = head[0], head[3], head[4], head[7], head[8]
    hash_size, hash_type, page = head[9], head[10], 1 << head[12]
    ad_hoc = 2
    if magic != 0xFADE0C02 or not flags & ad_hoc or (hash_size, hash_type) != (32, 2) or limit != start:
        return False
    pages = [data[at : min(at + page, limit)] for at in range(0, limit, page)]
    said = [directory[hashes + 32 * k :][:32] for k in range(slots)]
    return said == [hashlib.sha256(content).digest() for content in pages]
