"""Python environments with the pinned libraries of a script. Run by itself, this file makes those of all checks.

Usage: python3 checks/harness/environment.py
"""

import glob, os, shutil, subprocess, sys

sys.dont_write_bytecode = True

from sandbox import ROOT


def python_with(requirements, name):
    """The Python of an environment in .build with these requirements. Builds the environment when they have changed."""
    folder = f"{ROOT}/.build/{name}"
    installed, python = f"{folder}/requirements.txt", f"{folder}/bin/python"
    if not (os.path.exists(installed) and open(installed).read() == open(requirements).read()):
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--requirement", requirements], check=True)
        shutil.copy(requirements, installed)
    return python


if __name__ == "__main__":
    for requirements in sorted(glob.glob(f"{ROOT}/checks/*/requirements.txt")):
        python_with(requirements, os.path.basename(os.path.dirname(requirements)))
