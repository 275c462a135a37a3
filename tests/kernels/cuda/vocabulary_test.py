#!/usr/bin/env python3
"""Kernels use the words of kernels/cuda/vocabulary.h and none of CUDA's own, so that the simulator runs and sees all of
them.

Usage: vocabulary_test.py SOURCE_DIR. Follows the includes of kernels/cuda/*.cu inside that folder; exits 1 and names
file and line for every word that is not of the vocabulary.
"""
import pathlib
import re
import sys

FOLDER = pathlib.PurePosixPath("kernels/cuda")
# What the words are made of, and what turns a kernel into something to launch.
EXEMPT = {"vocabulary.h", "vocabulary_cuda.h", "vocabulary_simulator.h", "kernel_entry.h", "address.h"}

RAW = re.compile(
    r"""\b(?:threadIdx|blockIdx|blockDim|gridDim|warpSize|clusterDim)\b  # ids
      | \b__(?!CUDACC__)\w+                     # __shfl_sync, __syncthreads, __shared__, __ldg, __half2float ...
      | \basm\b
      | \batomic[A-Z]\w*                        # atomicAdd
      | \bcuda\w+ | \bcooperative_groups\b | \bnvcuda\b
      | \b(?:half2|nv_bfloat16|nv_bfloat162|float[234]|int[234]|uint[234])\b
      | \b(?:rsqrtf|fmaxf|fminf|exp2f|log2f|expf|fmaf)\b
      | \*\s*[\w.>-]+\.address\b | \.address\s*(?:\[|->)  # memory without Load or Store
    """, re.VERBOSE)
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)

PLANTED = ["int i = threadIdx.x;", "__syncthreads();", "v = __shfl_xor_sync(m, v, 1);", "__shared__ float s[4];",
           'asm volatile("bar.sync 0;");', "atomicAdd(p, 1);", "x = __ldg(p);", "cudaStream_t s;", "float4 v;",
           "float x = *p.q.address;", "x = p.q.address[3];"]
FINE = ["// like __syncthreads()", "if (p.indices.address == nullptr) {", "#if defined(__CUDACC__)",
        "Store(p, 1);", "x = a * b;", '#include "kernels/cuda/vocabulary_cuda.h"']


def raw_words(text):
    """(line number, word) for each word of CUDA's own; comments and strings do not count."""
    blanked = COMMENT.sub(lambda match: "\n" * match.group().count("\n"), text)
    for number, line in enumerate(blanked.splitlines(), 1):
        for match in RAW.finditer(line):
            yield number, match.group()


def main():
    root = pathlib.Path(sys.argv[1])
    for line in PLANTED:
        assert list(raw_words(line)), f"a planted word is not found: {line}"
    for line in FINE:
        assert not list(raw_words(line)), f"found what is none: {line}"

    waiting = sorted(path.relative_to(root).as_posix() for path in (root / FOLDER).glob("*.cu"))
    seen = set(waiting)
    mistakes = []
    while waiting:
        name = waiting.pop()
        text = (root / name).read_text()
        for included in INCLUDE.findall(text):
            path = pathlib.PurePosixPath(included)
            if path.parent == FOLDER and path.name not in EXEMPT and included not in seen:
                seen.add(included)
                waiting.append(included)
        mistakes += [f"{name}:{number}: '{word}' is not of the vocabulary" for number, word in raw_words(text)]
    for mistake in sorted(mistakes):
        print(mistake)
    if len(seen) < 10:
        print(f"only {len(seen)} files found under {root / FOLDER}: wrong folder?")
        return 1
    print(f"{len(seen)} files checked, {len(mistakes)} words that are not of the vocabulary")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
