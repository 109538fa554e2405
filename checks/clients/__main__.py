"""Generates clients from the OpenAPI document of a server, and uses them against the server.

Usage: python3 checks/clients [--humon PATH] [--keep]
Starts humon on a private PostgreSQL in a temporary directory, reads /v1/openapi.json, and generates a client with
openapi-python-client and models with datamodel-code-generator. Fails on any warning of a generator and on an operation that a client
lacks. usage.py then sends requests of each kind with the client, and reads each response with the models, too. Needs Python 3 with
venv, and PyPI once.
"""

import argparse, json, os, re, subprocess, sys, urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "harness"))
sys.dont_write_bytecode = True

from environment import python_with
from sandbox import ROOT, Failed, end_on_signals, run_in_sandbox
from server import HumonServer

METHODS = ("get", "put", "post", "patch", "delete")


def main():
    options = arguments()
    end_on_signals()
    python = python_with(f"{HERE}/requirements.txt", "clients")
    sys.exit(run_in_sandbox("clients", options.keep, lambda sandbox: test(sandbox, python, options)))


def test(sandbox, python, options):
    server = HumonServer(sandbox, options.humon)
    server.start()
    with urllib.request.urlopen(f"{server.url}/v1/openapi.json", timeout=10) as response:
        document = json.load(response)
    path = sandbox.write("openapi.json", json.dumps(document))
    environment = {"PATH": os.environ["PATH"], "HOME": sandbox.directory, "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}

    def run(*command, **more):
        command = [python, *command]
        return subprocess.run(
            command, cwd=sandbox.directory, env=environment | more, capture_output=True, text=True, timeout=120
        )

    # Without the formatters that it would run on the generated files.
    config = sandbox.write("openapi-python-client.json", json.dumps({"post_hooks": [], "project_name_override": "humon"}))
    expect_quiet(
        run(
            "-m",
            "openapi_python_client",
            "generate",
            "--path",
            path,
            "--config",
            config,
            "--output-path",
            sandbox.path("client"),
        ),
        "Generating",
    )
    wanted = {
        snake(operation["operationId"])
        for item in document["paths"].values()
        for name, operation in item.items()
        if name in METHODS
    }
    folder = sandbox.path("client", "humon", "api")
    made = {name.removesuffix(".py") for _, _, files in os.walk(folder) for name in files if name != "__init__.py"}
    if wanted != made:
        raise Failed(f"the client lacks {sorted(wanted - made)} and has {sorted(made - wanted)}")
    expect_quiet(
        run(
            *("-m", "datamodel_code_generator", "--input", path, "--input-file-type", "openapi"),
            *("--output-model-type", "pydantic_v2.BaseModel", "--formatters", "builtin"),
            *("--disable-timestamp", "--output", sandbox.path("client", "models.py")),
        )
    )
    own = {"PYTHONPATH": sandbox.path("client"), "HUMON_URL": server.url, "HUMON_SECRET": server.secret}
    result = run(f"{HERE}/usage.py", **own)
    print(result.stdout, end="", flush=True)
    if result.returncode:
        raise Failed(f"usage.py ended with {result.returncode}: {result.stderr}")


def expect_quiet(result, greeting=""):
    """A generator reports what it left out, and ends with 0 all the same."""
    lines = [line for line in (result.stdout + result.stderr).splitlines() if line.strip()]
    if result.returncode or any(not greeting or not line.startswith(greeting) for line in lines):
        raise Failed(f"{' '.join(result.args[2:4])} ended with {result.returncode}:\n" + "\n".join(lines))


def snake(name):
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def arguments():
    parser = argparse.ArgumentParser(
        prog="checks/clients", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--humon", default=f"{ROOT}/.build/release/humon")
    parser.add_argument("--keep", action="store_true")
    return parser.parse_args()


main()
