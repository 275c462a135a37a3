#!/usr/bin/env python3
"""What ptxas made of the kernels: no local memory (stack or spills), few registers, and all of them for every card.

Usage: ptxas_test.py [--registers N] LIBRARY ARCHITECTURE...   (an archive of objects by nvcc; 80 90 100)
Reads the cubins inside the library, as `cuobjdump -res-usage` does, which is not in every toolkit. They must not be
compressed (nvcc --no-compress). Exits 1 and names kernel and card for everything that breaks a bound.
"""
import argparse
import collections
import re
import shutil
import struct
import subprocess
import sys

# At this many threads of a CTA; others in proportion: it is the register file that they share.
THREADS = 128
REGISTERS = 128

# Part of a kernel's (demangled) name -> (registers, bytes of local memory) it may use, and why.
EXCEPTIONS = {}
for head_dim, registers in ((64, 168), (128, 168), (256, 200)):
    for keys in ("ContiguousKeys", "PagedKeys"):
        EXCEPTIONS[f"{head_dim}, kvbench::on_cuda::{keys}, 2> >"] = (
            registers, 0, "prompts, and decodes of more than 16 heads a KV head: outputs, weights and maxima of 32 "
            "rows instead of 16; 3 CTAs fit a multiprocessor, 2 at head dim 256")

# Attributes in the section .nv.info of a cubin; the first three for all kernels, by number of symbol.
REGISTER_COUNT, FRAME_SIZE, STACK_SIZE, MOST_THREADS = 0x2F, 0x11, 0x12, 0x05
EM_CUDA = 190
NEW_OSABI = 65  # CUDA 13; its flags hold the architecture one byte further up

Usage = collections.namedtuple("Usage", "registers local threads")


def attributes(section):
    """(attribute, value bytes) of a .nv.info section."""
    at = 0
    while at + 4 <= len(section):
        form, attribute, size = struct.unpack_from("<BBH", section, at)
        at += 4
        if form == 4:
            yield attribute, section[at:at + size]
            at += size


def read_cubin(data, begin):
    """(architecture, {kernel: Usage}) of the ELF file at data[begin:]."""
    section_table, flags = struct.unpack_from("<Q", data, begin + 40)[0], struct.unpack_from("<I", data, begin + 48)[0]
    entry_size, count, names_index = struct.unpack_from("<HHH", data, begin + 58)
    architecture = (flags >> 8 if data[begin + 7] == NEW_OSABI else flags) & 0xFF
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, begin + section_table + i * entry_size) for i in range(count)]

    def content(header):
        return data[begin + header[4]:begin + header[4] + header[5]]

    def text(table, offset):
        return table[offset:table.index(b"\0", offset)].decode()

    names = content(headers[names_index])
    sections = {text(names, header[0]): header for header in headers}
    symbols = content(sections[".symtab"])
    strings = content(headers[sections[".symtab"][6]])
    symbol_names = [text(strings, struct.unpack_from("<I", symbols, at)[0]) for at in range(0, len(symbols), 24)]

    found = collections.defaultdict(dict)
    for attribute, value in attributes(content(sections[".nv.info"])):
        if attribute in (REGISTER_COUNT, FRAME_SIZE, STACK_SIZE):
            symbol, number = struct.unpack("<II", value)
            found[symbol_names[symbol]][attribute] = number
    kernels = {}
    for name, header in sections.items():
        if name.startswith(".nv.info."):
            kernel = name[len(".nv.info."):]
            own = dict(attributes(content(header)))
            threads = struct.unpack_from("<I", own[MOST_THREADS])[0]
            of = found[kernel]
            kernels[kernel] = Usage(of[REGISTER_COUNT], max(of[FRAME_SIZE], of[STACK_SIZE]), threads)
    return architecture, kernels


def read_library(path):
    """{architecture: {kernel: Usage}} of all cubins in an archive."""
    with open(path, "rb") as file:
        data = file.read()
    result = collections.defaultdict(dict)
    for match in re.finditer(b"\x7fELF", data):
        begin = match.start()
        if begin + 64 <= len(data) and struct.unpack_from("<H", data, begin + 18)[0] == EM_CUDA:
            architecture, kernels = read_cubin(data, begin)
            result[architecture].update(kernels)
    return result


def demangled(names):
    names = sorted(names)
    if names and shutil.which("c++filt"):
        output = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
        return dict(zip(names, output.splitlines()))
    return {name: name for name in names}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--registers", type=int, default=REGISTERS, help=f"the bound at {THREADS} threads")
    parser.add_argument("library")
    parser.add_argument("architectures", type=int, nargs="+")
    arguments = parser.parse_args()

    cards = read_library(arguments.library)
    names = demangled({kernel for kernels in cards.values() for kernel in kernels})
    mistakes = [] if names else [f"no kernels found in {arguments.library}"]
    used = set()
    for architecture in arguments.architectures:
        kernels = cards[architecture]
        mistakes += [f"sm_{architecture}: {names[kernel]} is missing" for kernel in names.keys() - kernels.keys()]
        for kernel, usage in kernels.items():
            registers, local = arguments.registers * THREADS // usage.threads, 0
            for part, (most_registers, most_local, _) in EXCEPTIONS.items():
                if part in names[kernel]:
                    registers, local = most_registers, most_local
                    used.add(part)
            if usage.registers > registers:
                mistakes.append(f"sm_{architecture}: {names[kernel]}: {usage.registers} registers at {usage.threads} "
                                f"threads, at most {registers}")
            if usage.local > local:
                mistakes.append(f"sm_{architecture}: {names[kernel]}: {usage.local} bytes of local memory, "
                                f"at most {local}")
        if kernels:
            print(f"sm_{architecture}: {len(kernels)} kernels, at most "
                  f"{max(usage.registers for usage in kernels.values())} registers")
    mistakes += [f"an exception that no kernel needs: {part}" for part in EXCEPTIONS.keys() - used]
    for mistake in sorted(mistakes):
        print(mistake)
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
