#!/usr/bin/env python3
"""Enforces the house as docs/design.md draws it: which folder may include which, and that headers may come twice.

Usage: layering_test.py SOURCE_DIR. Exits 1 and names file and line for every include that the table does not have, every
row of the table that is wider than what is included, every folder without a row, every arrow that goes up in the drawing,
and every header without `#pragma once`.
"""
import pathlib
import re
import sys

EVERYBODY = "base"  # what every folder may include
NOT_IN_THE_HOUSE = {"build", "tests"}  # builds; tests may include all
SUFFIXES = {".h", ".cc", ".cu", ".cuh"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
ROW = re.compile(r"^\| `([\w/]+)` \|.*\|([^|]*)\|$")


def read_design(text):
    """The table as {folder: [what it may include, as written]}, and the drawing's floors from the ground up."""
    section = text.split("## The house\n", 1)[1].split("\n## ", 1)[0]
    table = {}
    for line in section.splitlines():
        match = ROW.match(line)
        if match:
            table[match.group(1)] = re.findall(r"`([^`]+)`", match.group(2))
    drawing = section.split("```", 2)[1]
    return table, [re.findall(r"\w[\w/.]+", line) for line in reversed(drawing.splitlines()) if line.strip()]


def expanded(entry, table):
    """The rows that a cell's entry stands for: itself, or for x/* those below x."""
    return [row for row in table if row.startswith(entry[:-1])] if entry.endswith("/*") else [entry]


def row_of(path, table):
    """The most specific row that holds a path, or None."""
    for folder in pathlib.PurePosixPath(path).parents:
        if str(folder) in table:
            return str(folder)
    return None


def check_drawing(floors, table):
    names = [name.removesuffix("/main.cc") for floor in floors for name in floor]
    mistakes = [f"docs/design.md: the drawing and the table do not both have {name} once"
                for name in sorted(set(names) ^ set(table) | {n for n in names if names.count(n) > 1})]
    height = {name.removesuffix("/main.cc"): i for i, floor in enumerate(floors) for name in floor}
    for folder, entries in table.items():
        for target in (row for entry in entries for row in expanded(entry, table)):
            if height.get(target, -1) >= height.get(folder, len(floors)):
                mistakes.append(f"docs/design.md: {folder} includes {target}, which does not stand below it")
    return mistakes


def main():
    root = pathlib.Path(sys.argv[1])
    table, floors = read_design((root / "docs/design.md").read_text())
    mistakes = check_drawing(floors, table)
    used = set()
    folders = set()
    files = 0
    for top in sorted(path for path in root.iterdir() if path.is_dir() and path.name not in NOT_IN_THE_HOUSE):
        for path in sorted(top.rglob("*")):
            relative = path.relative_to(root).as_posix()
            if path.suffix not in SUFFIXES or relative.startswith("."):
                continue
            files += 1
            folders.add(path.parent.relative_to(root).as_posix())
            own = row_of(relative, table)
            text = path.read_text()
            if path.suffix == ".h" and not path.name.endswith("-inl.h") and "#pragma once\n" not in text:
                mistakes.append(f"{relative}: there is no #pragma once")
            for number, line in enumerate(text.splitlines(), 1):
                match = INCLUDE.match(line)
                if not match or own is None or not (root / match.group(1)).exists():
                    continue  # a generated or system header
                target = row_of(match.group(1), table)
                entry = next((e for e in table[own] if target in expanded(e, table)), None)
                if target not in (own, EVERYBODY) and entry is None:
                    mistakes.append(f"{relative}:{number}: {own} may not include {match.group(1)}")
                used.add((own, entry))
    mistakes += [f"docs/design.md: nothing in {own} includes {entry}: leave it out"
                 for own, entries in table.items() for entry in entries if (own, entry) not in used]
    for folder in sorted(folders):
        row = row_of(folder + "/x", table)
        if row is None or (row != folder and any(other.startswith(row + "/") for other in table)):
            mistakes.append(f"docs/design.md: the table has no row for {folder}")
    for mistake in mistakes:
        print(mistake)
    if files < 50:
        print(f"only {files} files found under {root}: wrong folder?")
        return 1
    print(f"{files} files in {len(folders)} folders checked, {len(mistakes)} mistakes")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
