#!/usr/bin/env python3
"""tools/gpu_check and tools/gpu_peer without a GPU: arguments, plan, and a run of made-up programs.

usage: gpu_check_test.py SOURCE_DIR. Programs named nvidia-smi, kvbench and kvbench_gpu stand for
the real ones.
"""
import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
TOOL = SOURCE / "tools/gpu_check"

NVIDIA_SMI = """#!/bin/sh
case "$*" in
  -L) echo "GPU 0: NVIDIA H200 (UUID: GPU-0)" ;;
  *) echo "NVIDIA H200, 575.57, 1980 MHz, 3201 MHz, 1980 MHz, 40, 120.00 W" ;;
esac
"""

# Writes what it is told to the file after --json or --out; slow and failing where asked.
PROGRAM = """#!{python}
import json, os, signal, sys, time
words = sys.argv[1:]
name = words[0]
if os.environ.get("FAKE_CODE"):
    sys.exit(int(os.environ["FAKE_CODE"]))
out = words[words.index("--json" if "--json" in words else "--out") + 1]
found = {{"run_info": {{"complete": True}}}}
if name == "conformance":
    found["conformance"] = {{"checks": 5, "planned": 5, "failures": ["x"] * FAILURES}}
if name == "decode":
    tier = int(words[words.index("--tier") + 1])
    found["cells"] = [{{"skipped": None, "verification": {{"passed": True}}}}] * tier
    found["targets"] = [
        {{"what": "roof", "unit": "share", "at_least": 0.85, "held": 3, "missed": tier - 1,
          "worst": 0.9 / tier, "worst_cell": f"cell {{tier}}"}},
        {{"what": "paged", "unit": "times", "at_most": 1.03, "held": 1, "missed": 0,
          "worst": 1 + 0.01 * tier, "worst_cell": f"cell {{tier}}"}}]
json.dump(found, open(out, "w"))
sys.exit(1 if name == "conformance" and FAILURES else 0)
"""


class GpuCheckTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)
        self.path = self.folder / "path"
        self.path.mkdir()
        self.programs = self.folder / "programs"
        self.out = self.folder / "out"

    def write(self, path, text):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def with_programs(self, failures=0):
        for name in ("kvbench", "kvbench_gpu"):
            self.write(self.programs / name, PROGRAM.format(python=sys.executable).replace(
                "FAILURES", str(failures)))

    def with_gpu(self):
        self.write(self.path / "nvidia-smi", NVIDIA_SMI)

    def run_tool(self, *arguments, **environment):
        """With nothing on PATH but a shell, Python and what stands for a GPU."""
        for name in ("sh", "cat", "env", "dirname"):
            if not (self.path / name).exists():
                (self.path / name).symlink_to(next(
                    p for p in (pathlib.Path(d) / name for d in ("/bin", "/usr/bin"))
                    if p.exists()))
        if not (self.path / "python3").exists():
            self.write(self.path / "python3", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        return subprocess.run([sys.executable, str(TOOL), *map(str, arguments)], text=True,
                              capture_output=True, check=False, timeout=120,
                              env={"PATH": str(self.path), **environment})

    def test_bad_arguments(self):
        for arguments in (["--tier", "4"], ["--tier"], ["--out", str(TOOL)], ["now"],
                          ["--programs", str(self.folder)]):
            done = self.run_tool(*arguments)
            self.assertEqual(done.returncode, 2, (arguments, done.stderr))
            self.assertIn("gpu_check: error", done.stderr)

    def test_without_a_gpu(self):
        done = self.run_tool("--out", self.out)
        self.assertEqual(done.returncode, 3)
        self.assertIn("no GPU", done.stderr)
        self.assertFalse(self.out.exists())

    def test_dry_run_prints_plan_and_budgets(self):
        done = self.run_tool("--dry-run", "--out", self.out)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        budgets = {int(t): int(s) for t, s in
                   re.findall(r"^Tier (\d), (\d+) s:$", done.stdout, re.MULTILINE)}
        self.assertEqual(budgets[1], 90)
        self.assertEqual(budgets[2], 120)
        self.assertEqual(set(budgets), {1, 2, 3})
        for part in ("tools/build release -DKVBENCH_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=native",
                     "kvbench_gpu conformance", "decode --tier 1", "decode --tier 2", "vllm-v1",
                     "run quick --executor cuda", "llama-3-8b,llama-2-7b", "compute-sanitizer",
                     "tools/profile ncu", "tools/gpu_peer", "No GPU is here",
                     "compute-sanitizer is not installed"):
            self.assertIn(part, done.stdout)
        self.assertFalse(self.out.exists())
        one = self.run_tool("--dry-run", "--tier", "2")
        self.assertIn("In all 120 s", one.stdout)

    def test_dry_run_checks_the_arguments_of_what_is_built(self):
        self.with_programs()
        right = self.run_tool("--dry-run", "--programs", self.programs, FAKE_CODE="3")
        self.assertEqual(right.returncode, 0, right.stdout)
        # kvbench_gpu four times, kvbench twice, and the profiler's script.
        self.assertEqual(right.stdout.count("its arguments are right"), 7, right.stdout)
        wrong = self.run_tool("--dry-run", "--programs", self.programs, FAKE_CODE="2")
        self.assertEqual(wrong.returncode, 1)
        self.assertEqual(wrong.stdout.count("WRONG: exit code 2"), 6)

    def test_a_run_ends_with_a_summary(self):
        self.with_programs()
        self.with_gpu()
        done = self.run_tool("--programs", self.programs, "--out", self.out)
        self.assertEqual(done.returncode, 0, done.stderr)
        for part in ("5 of 5 checks, 0 failures", "1 cells, 0 wrong", "2 cells, 0 wrong",
                     "roof: MISSED", "6 of 7 cells; worst 0.450 share: cell 2", "paged: holds",
                     "worst 1.020 times: cell 2", "ncu is not installed", "NVIDIA H200"):
            self.assertIn(part, done.stdout)
        for line in done.stdout.splitlines():
            if not line.startswith("  files:"):
                self.assertLessEqual(len(line), 100, line)
        summary = json.loads((self.out / "summary.json").read_text())
        self.assertEqual(set(summary["gpu_states"]),
                         {"before", "after tier 1", "after tier 2", "after tier 3"})
        self.assertEqual(summary["gpu_states"]["before"][0]["clocks.sm"], "1980 MHz")
        results = {step["name"]: step["result"] for step in summary["steps"]}
        self.assertEqual(results["conformance"], 0)
        self.assertEqual(results["peer"], "torch is not installed")
        self.assertNotIn("build", results)

    def test_a_wrong_kernel_is_an_exit_code(self):
        self.with_programs(failures=2)
        self.with_gpu()
        done = self.run_tool("--programs", self.programs, "--out", self.out, "--tier", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("exit code 1, 5 of 5 checks, 2 failures", done.stdout)
        self.assertIn("1 cells, 0 wrong", done.stdout)  # what follows still ran

    def test_tiers_may_run_one_by_one(self):
        self.with_programs()
        self.with_gpu()
        for tier in ("1", "2"):
            done = self.run_tool("--programs", self.programs, "--out", self.out, "--tier", tier)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("6 of 7 cells", done.stdout)

    def test_peer_refuses_what_it_cannot_do(self):
        peer = [sys.executable, str(SOURCE / "tools/gpu_peer")]
        self.assertEqual(subprocess.run(peer, capture_output=True, check=False).returncode, 2)
        done = subprocess.run([*peer, str(TOOL), str(self.out)], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("is no file of kvbench_gpu decode", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
