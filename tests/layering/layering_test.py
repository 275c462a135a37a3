#!/usr/bin/env python3
"""Enforces the include table of docs/design.md: which folder may include which, and that headers may come twice.

Usage: layering_test.py SOURCE_DIR. Exits 1 and names file and line for every include that breaks the table, and every
header without `#pragma once`.
"""
import pathlib
import re
import sys

# folder -> folders of ours that its files may include besides their own
ALLOWED = {
    "workloads": set(),
    "cache": set(),
    "baselines": {"cache"},
    "kernels": set(),
    "results": set(),
    "bench/engine": {"workloads", "cache"},
    "bench/executors": {"bench/engine", "kernels", "workloads", "cache"},
    "bench": {"workloads", "cache", "baselines", "kernels", "results", "bench/engine", "bench/executors",
              "bench/commands", "bench/micro"},
    "bench/commands": {"workloads", "cache", "baselines", "kernels", "results", "bench/engine", "bench/executors",
                       "bench"},
    "bench/gpu": {"workloads", "cache", "baselines", "kernels", "results", "bench/engine", "bench/executors",
                  "bench"},
    "bench/micro": {"workloads", "cache", "baselines", "kernels", "results", "bench/engine", "bench/executors",
                    "bench"},
}
SUFFIXES = {".h", ".cc", ".cu", ".cuh"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def folder_of(path):
    """The most specific folder of the table that holds a path, or None."""
    parts = pathlib.PurePosixPath(path).parts
    for length in (2, 1):
        folder = "/".join(parts[:length])
        if len(parts) > length and folder in ALLOWED:
            return folder
    return None


def main():
    root = pathlib.Path(sys.argv[1])
    mistakes = []
    files = 0
    for folder in sorted({name.split("/")[0] for name in ALLOWED}):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            files += 1
            relative = path.relative_to(root).as_posix()
            own = folder_of(relative)
            if path.suffix == ".h" and not path.name.endswith("-inl.h") and "#pragma once\n" not in path.read_text():
                mistakes.append(f"{relative}: there is no #pragma once")
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                if not match or not (root / match.group(1)).exists():
                    continue  # a generated or system header
                target = folder_of(match.group(1))
                if target != own and target not in ALLOWED[own]:
                    mistakes.append(f"{relative}:{number}: {own} may not include {match.group(1)}")
    for mistake in mistakes:
        print(mistake)
    if files < 50:
        print(f"only {files} files found under {root}: wrong folder?")
        return 1
    print(f"{files} files checked, {len(mistakes)} includes break the table")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
