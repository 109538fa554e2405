"""Tests the deployment of docs/deploying.md: starts it natively from the same files, breaks it, and reports the results.

Usage: python3 checks/deployment [--short] [--soak MINUTES] [--overload] [--only PART,…] [--phones N] [--humon PATH] [--keep]
--short runs only the tests that need nginx, two nodes and PostgreSQL, and takes three minutes. CI runs it.
Needs Python 3, nginx, PostgreSQL, curl, openssl and Prometheus (promtool); without --short also etcd, Patroni, HAProxy, PgBouncer,
Alertmanager, two exporters and faketime; --overload wrk.
"""

import argparse, os, shutil, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
sys.dont_write_bytecode = True

import scenarios
from backups import backups
from databases import Cluster
from members import backups_of_members, certificates
from monitoring import monitoring, rules
from overload import overload
from sandbox import ROOT, end_on_signals, run_in_sandbox
from scenarios import Deployment
from streams import streams
from tls import tls


def main():
    options = arguments()
    end_on_signals()
    failed = 0
    for title, build, parts in plan(options):
        parts = [part for part in parts if not options.only or part[0] in options.only]
        if parts:
            failed += run(title, build, parts, options)
    sys.exit(1 if failed else 0)


def plan(options):
    rounds = 1 if options.short else 3
    plain = [
        ("tls", "TLS at the proxy", tls),
        ("restart", "Rolling restart", lambda deployment: scenarios.rolling_restart(deployment, rounds)),
        ("rules", "Alert rules", rules),
        ("backups", "Backups", backups),
        ("kill", "kill -9 of a node", lambda deployment: scenarios.killed_node(deployment, 2 * rounds)),
        ("nobody", "No node left", scenarios.no_node_left),
        ("streams", "Streams of changes", lambda deployment: streams(deployment, options.short)),
    ]
    if not options.short:
        plain.append(("monitoring", "Prometheus", monitoring))
    if options.soak:
        plain.append(("soak", "Soak", lambda deployment: scenarios.soak(deployment, options.soak)))
    if options.overload:
        plain.append(("overload", "Four times the capacity", overload))
    # Last, since PostgreSQL goes back to an old copy, whose WAL the archive has already.
    plain.append(("machine", "A lost machine with its erasure list", scenarios.lost_machine))
    yield "nginx, two nodes, PostgreSQL", Deployment, plain
    if not options.short:
        yield (
            "nginx, two nodes, PgBouncer, PostgreSQL",
            lambda *words, **how: Deployment(*words, settings={"HUMON_DATABASE_POOLED": "true"}, pooled=True, **how),
            [("pooler", "PgBouncer in transaction mode", scenarios.pooled)],
        )
        yield (
            "nginx, two nodes, HAProxy, Patroni with two members, etcd",
            lambda sandbox, humon, **how: Deployment(sandbox, humon, Cluster(sandbox), **how),
            [
                ("fail-over", "Fail-over of PostgreSQL", scenarios.fail_over),
                ("certificates", "Certificates that end", certificates),
                ("members", "Backups of two members", backups_of_members),
            ],
        )


def run(title, build, parts, options):
    print(f"{title}:", flush=True)
    begin = time.monotonic()

    def test(sandbox):
        # A copy that the nodes' account can read.
        humon = shutil.copy(options.humon, sandbox.path("humon"))
        os.chmod(humon, 0o755)
        deployment = build(sandbox, humon, phones=options.phones)
        deployment.start()
        print(f"  up within {time.monotonic() - begin:.0f} s", flush=True)
        for _, name, proof in parts:
            began = time.monotonic()
            result = proof(deployment)
            print(f"  {name} ({time.monotonic() - began:.0f} s): {result}", flush=True)

    return run_in_sandbox("deployment", options.keep, test)


def arguments():
    parser = argparse.ArgumentParser(
        prog="checks/deployment", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--soak", type=float, metavar="MINUTES", default=0)
    parser.add_argument("--overload", action="store_true")
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    parser.add_argument("--phones", type=int, default=24)
    parser.add_argument("--humon", default=f"{ROOT}/.build/release/humon")
    parser.add_argument("--keep", action="store_true")
    return parser.parse_args()


main()
