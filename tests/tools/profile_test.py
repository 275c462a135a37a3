#!/usr/bin/env python3
"""tools/profile without a GPU or a profiler: arguments, commands, figures of made-up files.

usage: profile_test.py SOURCE_DIR. Programs named nsys and ncu stand for the real ones: they write
down how they are called, write an empty report and print the made-up files.
"""
import importlib.machinery
import importlib.util
import os
import pathlib
import shlex
import stat
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
PROFILE = SOURCE / "tools/profile"
DATA = SOURCE / "tests/tools/profile"

FAKE = r"""#!/bin/sh
echo "$0 $*" >> "$FAKE_LOG"
case "$*" in
  *cuda_gpu_kern_sum*) cat "{data}/nsys_kernels.csv" ;;
  *nvtx_pushpop_sum*) cat "{data}/nsys_ranges.csv" ;;
  *--import*) cat "{data}/ncu_raw.csv" ;;
  *) [ -z "$FAKE_CODE" ] || exit "$FAKE_CODE"
     [ -n "$FAKE_NO_REPORT" ] || : > "$FAKE_REPORT" ;;
esac
"""


def load():
    loader = importlib.machinery.SourceFileLoader("profile_tool", str(PROFILE))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


class ProfileTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)
        self.tool = load()

    def run_profile(self, *arguments, fakes=(), **environment):
        """The tool with nothing on PATH but what it needs itself and the fakes."""
        path = self.folder / "bin"
        path.mkdir(exist_ok=True)
        for name in fakes:
            fake = path / name
            fake.write_text(FAKE.format(data=DATA))
            fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
        for name in ("cat", "sh"):
            if not (path / name).exists():
                (path / name).symlink_to(pathlib.Path("/bin") / name)
        return subprocess.run([sys.executable, str(PROFILE), *arguments], text=True,
                              capture_output=True, check=False,
                              env={"PATH": str(path), "FAKE_LOG": str(self.folder / "log"),
                                   **environment})

    def dry_run(self, *arguments):
        done = self.run_profile(arguments[0], "--dry-run", *arguments[1:])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse((self.folder / "log").exists())
        return shlex.split(done.stdout)

    def test_bad_arguments_are_refused_with_a_sentence(self):
        for arguments, part in ((("run", "quick"), "arguments are required: tool"),
                                (("perf", "run"), "invalid choice: 'perf'"),
                                (("nsys",), "what is to be profiled"),
                                (("nsys", "plan", "--model", "x"), "unrecognized arguments: plan"),
                                (("ncu", "--range", "nap", "run"), "there is no range 'nap'"),
                                (("ncu", "--launches", "0", "run"), "at least 1"),
                                (("ncu", "--launches", "two", "run"), "invalid int")):
            done = self.run_profile(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(part, done.stderr)
        self.assertEqual(self.run_profile("--help").returncode, 0)

    def test_a_missing_profiler_is_named_with_its_package(self):
        for tool, package in (("nsys", "nsight-systems"), ("ncu", "nsight-compute")):
            done = self.run_profile(tool, "run", "quick")
            self.assertEqual(done.returncode, 3)
            self.assertIn(f"{tool} is not installed", done.stderr)
            self.assertIn(package, done.stderr)

    def test_a_missing_program_is_named(self):
        done = self.run_profile("nsys", "--program", str(self.folder / "none"), "run",
                                fakes=["nsys"])
        self.assertEqual(done.returncode, 2)
        self.assertIn("tools/build release kvbench", done.stderr)

    def test_nsys_captures_the_measured_region_of_a_gpu_run(self):
        command = self.dry_run("nsys", "run", "quick", "--executor", "cuda", "--name", "kept")
        self.assertEqual(command[:2], ["nsys", "profile"])
        self.assertIn("--capture-range=cudaProfilerApi", command)
        self.assertIn(str(SOURCE / "build/release/bin/kvbench"), command)
        self.assertEqual(command[command.index("run"):],
                         ["run", "quick", "--executor", "cuda", "--name", "kept"])
        self.assertIn("--capture-range=cudaProfilerApi",
                      self.dry_run("nsys", "run", "--executor=cpu,cuda"))

    def test_nsys_records_a_cpu_run_whole(self):
        command = self.dry_run("nsys", "--name", "mine", "run", "quick")
        self.assertFalse([word for word in command if word.startswith("--capture-range")])
        self.assertIn(f"--output={SOURCE}/build/profile/mine", command)
        self.assertIn("--trace=nvtx,osrt", command)

    def test_ncu_looks_at_one_range(self):
        command = self.dry_run("ncu", "--range", "dense", "--launches", "3", "run", "quick")
        self.assertEqual(command[command.index("--nvtx-include") + 1], "kvbench@dense/")
        self.assertEqual(command[command.index("--profile-from-start") + 1], "off")
        self.assertEqual(command[command.index("--launch-count") + 1], "3")
        self.assertIn(self.tool.BANDWIDTH, command[command.index("--metrics") + 1])

    def test_nsys_figures(self):
        kernels = self.tool.nsys_figures((DATA / "nsys_kernels.csv").read_text(), "Name")
        self.assertEqual(kernels[0][0],
                         "void kvbench::DecodeAttention<128, 4>(kvbench::AttentionCall)")
        self.assertEqual(kernels[0][1:], (200, 6e6, 3e4))
        self.assertEqual(kernels[1][0], "kvbench::WriteKv")
        ranges = self.tool.nsys_figures((DATA / "nsys_ranges.csv").read_text(), "Range")
        self.assertEqual([name for name, *_ in ranges], ["kvbench:run", "kvbench:decode"])
        self.assertEqual(self.tool.nsys_figures("SKIPPED: it has no CUDA data\n", "Name"), [])

    def test_ncu_figures(self):
        merge, decode = self.tool.ncu_figures((DATA / "ncu_raw.csv").read_text())
        self.assertEqual((decode["name"], decode["launches"]),
                         ("void DecodeAttention<128, 4>(AttentionCall)", 2))
        self.assertAlmostEqual(decode["seconds"], 400e-6)
        # Weighted by time: (4 x 100 + 2 x 300) / 400, and so on.
        self.assertAlmostEqual(decode["bytes_per_s"], 2.5e12)
        self.assertAlmostEqual(decode["of_peak"], 50)
        self.assertAlmostEqual(decode["occupancy"], 35)
        self.assertEqual(decode["registers"], 96)
        self.assertEqual(decode["stall"], "long_scoreboard")  # being selected is no stall
        self.assertAlmostEqual(decode["stall_share"], 0.75)
        self.assertAlmostEqual(merge["seconds"], 1000.5e-6)
        self.assertIsNone(merge["bytes_per_s"])
        self.assertIsNone(merge["stall"])
        self.assertEqual(self.tool.ncu_figures("==WARNING== No kernels were profiled.\n"), [])

    def test_units(self):
        for value, unit, base in ((3, "Gbyte/second", 3e9), (3, "byte/second", 3), (5, "ns", 5e-9),
                                  (5, "usecond", 5e-6), (2, "msecond", 2e-3), (7, "%", 7)):
            self.assertAlmostEqual(self.tool.in_base_unit(value, unit), base)

    def whole_run(self, tool, report, **environment):
        return self.run_profile(tool, "--program", "/bin/true", "--folder",
                                str(self.folder / "reports"), "run", "quick", fakes=[tool],
                                FAKE_REPORT=str(self.folder / "reports" / report), **environment)

    def test_a_whole_run_prints_the_figures(self):
        done = self.whole_run("nsys", "nsys.nsys-rep")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("kvbench:decode", done.stdout)
        self.assertIn("Report: ", done.stderr)
        self.assertIn("--report=nvtx_pushpop_sum", (self.folder / "log").read_text())
        done = self.whole_run("ncu", "ncu.ncu-rep")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2,500.0", done.stdout)
        self.assertIn("long_scoreboard (75 %)", done.stdout)

    def test_a_range_without_kernels_is_said(self):
        done = self.whole_run("ncu", "ncu.ncu-rep", FAKE_NO_REPORT="1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no kernel was launched", done.stdout)

    def test_a_profiler_that_fails_is_said(self):
        done = self.whole_run("nsys", "nsys.nsys-rep", FAKE_CODE="4")
        self.assertEqual(done.returncode, 4)
        self.assertIn("nsys ended with 4", done.stderr)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    os.chdir("/")
    unittest.main(argv=sys.argv[:1])
