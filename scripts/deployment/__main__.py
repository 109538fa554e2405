"""Starts what docs/deploying.md says, natively and from the same files, breaks it, and says what was proved.

Usage: python3 scripts/deployment [--short] [--soak MINUTES] [--overload] [--only PART,…] [--phones N] [--humon PATH] [--keep]
--short leaves out what needs more than nginx, two nodes and PostgreSQL, and is over in two minutes; CI runs it.
Needs Python 3, nginx, PostgreSQL, curl, openssl and Prometheus (promtool); without --short also etcd, Patroni, HAProxy, PgBouncer,
Alertmanager and two exporters; --overload wrk.
"""

import argparse, os, shutil, signal, sys, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

import proofs
from backups import backups
from databases import Cluster
from monitoring import monitoring, rules
from guide import guide
from overload import overload
from place import ROOT, Failed, Place
from proofs import Topology
from sockets import sockets
from tls import tls


def main():
    options = arguments()
    # Whatever ends the script ends what it started.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(143))
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
        ("sockets", "A Unix socket", sockets),
        ("restart", "Rolling restart", lambda topology: proofs.rolling_restart(topology, rounds)),
        ("rules", "Alert rules", rules),
        ("backups", "Backups", backups),
        ("guide", "The guide", guide),
        ("kill", "kill -9 of a node", lambda topology: proofs.killed_node(topology, 2 * rounds)),
        ("nobody", "No node left", proofs.nobody_left),
    ]
    if not options.short:
        plain.append(("monitoring", "Prometheus", monitoring))
    if options.soak:
        plain.append(("soak", "Soak", lambda topology: proofs.soak(topology, options.soak)))
    if options.overload:
        plain.append(("overload", "Four times what it can", overload))
    yield "nginx, two nodes, PostgreSQL", Topology, plain
    if not options.short:
        yield (
            "nginx, two nodes, PgBouncer, PostgreSQL",
            lambda *words, **how: Topology(*words, settings={"HUMON_DATABASE_POOLED": "true"}, pooled=True, **how),
            [("pooler", "PgBouncer in transaction mode", proofs.pooled)],
        )
        yield (
            "nginx, two nodes, HAProxy, Patroni with two members, etcd",
            lambda place, humon, **how: Topology(place, humon, Cluster(place), **how),
            [("fail-over", "Fail-over of PostgreSQL", proofs.fail_over)],
        )


def run(title, build, parts, options):
    print(f"{title}:", flush=True)
    place, failed, begin = Place(), 0, time.monotonic()
    try:
        # Where the account of the nodes can reach it.
        humon = shutil.copy(options.humon, place.path("humon"))
        os.chmod(humon, 0o755)
        topology = build(place, humon, phones=options.phones)
        topology.start()
        print(f"  up within {time.monotonic() - begin:.0f} s", flush=True)
        for _, name, proof in parts:
            print(f"  {name}: {proof(topology)}", flush=True)
    except Failed as failure:
        failed = 1
        print(f"  FAILED: {failure}", flush=True)
    except BaseException:
        failed = 1
        raise
    finally:
        place.close(keep=options.keep or failed)
    return failed


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/deployment", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
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
