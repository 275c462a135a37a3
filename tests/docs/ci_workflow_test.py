"""Executes the steps of docs/ci-workflow.yml as a runner would, but for checkout, builds and the comment.

Usage: ci_workflow_test.py SOURCE_DIR KVBENCH
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

SOURCE = pathlib.Path(sys.argv[1])
KVBENCH = pathlib.Path(sys.argv[2])
WORKFLOW = yaml.safe_load((SOURCE / "docs/ci-workflow.yml").read_text())
JOB = WORKFLOW["jobs"]["compare"]
STEPS = {step["name"]: step for step in JOB["steps"] if "name" in step}
SUITE = {
    "name": "small", "model": "opt-13b", "design": ["contiguous-max", "paged"], "executor": "modelled",
    "hardware": "a100-sxm4-40gb", "lengths": "sharegpt", "arrivals": "all-at-once", "requests": 20, "seed": 1,
}


def run_step(name, folder, outputs):
    """Runs a step with its expressions replaced; returns its exit code."""
    def value(match):
        expression = match[1].strip()
        assert expression.startswith("steps.compare.outputs."), expression
        return outputs[expression.rsplit(".", 1)[1]]

    script = re.sub(r"\$\{\{(.*?)\}\}", value, STEPS[name]["run"])
    environment = dict(os.environ, GITHUB_OUTPUT=str(folder / "output"), GITHUB_STEP_SUMMARY=str(folder / "summary"),
                       SUITE="suite.json", BUDGET=str(JOB["env"]["BUDGET"]))
    return subprocess.run(["bash", "-e", "-c", script], cwd=folder / "branch", env=environment, check=False).returncode


def gate(name, next_program):
    """Compares KVBENCH with another program as the workflow does; returns the verdict's exit code and the summary."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for side, text in (("base", f'exec "{KVBENCH}" "$@"'), ("branch", next_program)):
            program = folder / side / "build/release/bin/kvbench"
            program.parent.mkdir(parents=True)
            program.write_text("#!/bin/sh\n" + text + "\n")
            program.chmod(0o755)
        (folder / "branch/suite.json").write_text(json.dumps(SUITE))
        code = run_step("Compare", folder, {})
        assert code == 0, f"{name}: the step Compare ended with {code}"
        outputs = dict(line.split("=", 1) for line in (folder / "output").read_text().splitlines())
        summary = folder / "summary"
        return run_step("Verdict", folder, outputs), summary.read_text() if summary.exists() else ""


def main():
    trigger = WORKFLOW[True]  # YAML 1.1 reads the key `on` as a truth value
    assert trigger == "pull_request", trigger
    for name, step in STEPS.items():
        assert "run" in step, name
        subprocess.run(["bash", "-n", "-c", re.sub(r"\$\{\{.*?\}\}", "x", step["run"])], check=True)
    script, *arguments = JOB["env"]["BUILD"].split()
    for path in (script, "tools/install_packages", JOB["env"]["SUITE"]):
        assert (SOURCE / path).exists(), path
    options = "".join(path.read_text() for path in [SOURCE / "CMakeLists.txt", *(SOURCE / "cmake").iterdir()])
    for argument in arguments:
        if argument.startswith("-D"):
            assert f"option({argument[2:].split('=')[0]} " in options, argument

    same = f'exec "{KVBENCH}" "$@"'
    code, summary = gate("same", same)
    assert code == 0 and "2 same" in summary, (code, summary)
    # A branch that counts otherwise: `kvbench run SUITE --out FILE` writes one step more.
    changed = f"""[ "$1" = run ] || exec "{KVBENCH}" "$@"
"{KVBENCH}" "$@" && sed -i 's/"steps": \\([0-9]*\\)/"steps": 1\\1/' "$4" """
    code, summary = gate("changed", changed)
    assert code == 1 and "2 changed" in summary, (code, summary)
    # One that has other runs cannot be compared, and one that does not run is no success either.
    others = f"""[ "$1" = run ] || exec "{KVBENCH}" "$@"
sed 's/"seed": 1/"seed": 2/' "$2" > other.json; shift 2; exec "{KVBENCH}" run other.json "$@" """
    for name, program in (("others", others), ("broken", f'[ "$1" = run ] && exit 2\n{same}')):
        code, summary = gate(name, program)
        assert code == 2 and not summary, (name, code, summary)
    print("the workflow's steps give 0, 1 and 2 as they should")


main()
