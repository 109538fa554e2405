"""Python environments with the pinned libraries of a script."""

import os, shutil, subprocess, sys

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
