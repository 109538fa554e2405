"""The rules about what surrounds the program: Makefile, manifests, migrations, and the files of a deployment."""
import re

import yaml

from .tree import line_at, line_of, rule

@rule
def make_help_lists_every_target(tree):
    makefile = tree.text("Makefile")
    targets = re.findall(r"(?m)^([a-z-]+):", makefile)
    for match in re.finditer(r"(?m)^## ([a-z-]+)\s", makefile):
        if match[1] not in targets: yield "Makefile", line_at(makefile, match.start()), f"there is no target {match[1]}; remove the line"
    for target in targets:
        if not re.search(rf"(?m)^## {target}\s", makefile):
            yield "Makefile", line_of(makefile, f"\n{target}:") + 1, f"make help does not list {target}; add a line ## {target}"


@rule
def packages_have_one_version(tree):
    listed = "deploy/packages.txt"
    versions = dict(re.findall(r"(?m)^([a-z][\w-]*) (\d+\.\d+\.\d+)$", tree.text(listed)))
    for path in ("Package.swift", "Benchmarks/Package.swift"):
        manifest = tree.text(path)
        for match in re.finditer(r'\.package\(url: "([^"]*)"(?:, exact: "([^"]+)")?', manifest):
            name, line = match[1].rpartition("/")[2], line_at(manifest, match.start())
            # The image does not have what only a benchmark needs.
            version = versions.get(name.lower(), match[2] if path != "Package.swift" else None)
            if not match[2]:
                yield path, line, f"{name} has no exact version; write exact:"
            elif version != match[2]:
                yield path, line, f"{listed} has {name} {version}; make the two equal"
    if "--force-resolved-versions" not in tree.text("Dockerfile"):
        yield "Dockerfile", 1, "the image may build with other versions; build with --force-resolved-versions"


@rule
def the_client_alone_has_the_settings_of_the_whole(tree):
    path = "HumonClient/Package.swift"
    own, alone = (set(re.findall(r'enableUpcomingFeature\("(\w+)"\)', tree.text(file))) for file in ("Package.swift", path))
    for name in sorted(own ^ alone): yield path, 1, f"only one of the two manifests enables {name}; make them equal"
    for part in ('.library(name: "HumonClient", targets: ["HumonClient"])', ".iOS(.v16)"):
        if part not in tree.text("Package.swift"): yield "Package.swift", 1, f"apps need {part}; add it"


@rule
def migrations_are_embedded(tree):
    path = "Libraries/EventStore/Sources/Schema.swift"
    schema = tree.text(path)
    migrations, functions = ([file.rpartition("/")[2].removesuffix(".sql") for file in tree.below(folder, ending=".sql")]
                             for folder in ("db/migrations", "db/functions"))
    listed = re.findall(r'name: "(\d{4}_\w+)"', schema)
    if listed != migrations:
        wrong = next((a or b for a, b in zip([*listed, None], [*migrations, None]) if a != b), "the last migration")
        yield path, line_of(schema, f'"{wrong}"'), f"the list differs from db/migrations at {wrong}; list the files in their order"
    embedded = set(re.findall(r"\bsql_([a-z]\w+)", schema))
    for name in sorted(embedded ^ {*functions, "grants"}):
        yield path, line_of(schema, name), f"list and db/functions differ at {name}; make them equal"


@rule
def migrations_change_tables_and_functions_replace_functions(tree):
    """A file of functions runs after every migration, and may lock no table."""
    for path in tree.below("db/migrations", ending=".sql"):
        # A trigger needs a function: one that refuses, until a file of functions replaces it.
        match = re.search(r"CREATE[A-Z ]* FUNCTION (?!\S+ RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE )", tree.text(path))
        if match: yield path, line_at(tree.text(path), match.start()), "a migration creates a function; put it into db/functions"
    for path in tree.below("db/functions", ending=".sql"):
        text = re.sub(r"(?s)\$\$.*?\$\$", lambda body: "\n" * body[0].count("\n"), tree.text(path))
        for match in re.finditer(r"\s*([^;]+)", re.sub(r"--[^\n]*", "", text)):
            if match[1].strip() and not match[1].startswith("CREATE OR REPLACE FUNCTION log."):
                line = line_at(match.string, match.start(1))
                yield path, line, "a file of functions only replaces functions; write CREATE OR REPLACE FUNCTION log."


# Deployment


def deployment(tree):
    return [*tree.below("deploy"), "Dockerfile", "docker-compose.yml", "docker-compose.tls.yml"]


def alert_files(tree):
    return [path for path in tree.below("deploy/prometheus") if path.endswith("alerts.yml")]


def alerts(tree):
    """The alerts: name, file, line and text."""
    for file in alert_files(tree):
        text = tree.text(file)
        starts = [match.start() for match in re.finditer("- alert: ", text)]
        for start, end in zip(starts, [*starts[1:], len(text)]):
            rule_text = text[start:end]
            yield rule_text.split("\n")[0].removeprefix("- alert: "), file, line_at(text, start), rule_text


def runbooks(tree):
    """The sections for alerts: page, line, the names in the heading, and text."""
    for page, rest in (("docs/runbooks.md", "## Procedures"), ("docs/high-availability.md", "## Its procedures")):
        text = tree.text(page)
        sections = re.compile(r"^### (\w+(?:, \w+)*)\n(.*?)(?=^##)", re.M | re.S)
        for match in sections.finditer(text, 0, text.find(f"\n{rest}\n") + 3):
            yield page, line_at(text, match.start()), match[1].split(", "), match[2]


@rule
def alerts_have_tests_and_runbooks(tree):
    sections, alone = {}, set()
    tests = "".join(tree.text(f"deploy/prometheus/{file}") for file in ("alerts-test.yml", "alerts-days-test.yml"))
    for page, line, names, section in runbooks(tree):
        link = f"file:///usr/share/doc/humon/{page.removeprefix('docs/')}#{'-'.join(names).lower()}"
        sections.update({name: (page, line, link) for name in names})
        parts = re.findall(r"\*\*(Users|Look|Type|Over)\b", section)
        if parts != ["Users", "Look", "Type", "Over"]:
            yield page, line, "the runbook lacks a part, or has another order; write **Users**, **Look:**, **Type:**, **Over:**"
    for name, file, line, body in alerts(tree):
        alone.add(name)
        if f'{{alertname="{name}"}}' not in tests: yield file, line, f"no test sees {name} fire; add one to alerts-test.yml"
        if name not in sections: yield file, line, f"{name} has no runbook; write the section ### {name} of docs/runbooks.md"
        elif f'runbook_url: "{sections[name][2]}"\n' not in body:
            yield file, line, f"{name} does not link to its runbook; write {sections[name][2]}"
    for name in sections.keys() - alone:
        yield *sections[name][:2], f"there is no alert {name}; remove the runbook, or correct its name"


@rule
def dashboards_and_alerts_use_metrics_that_exist(tree):
    """A test holds the table equal to the metrics of a server. The text names those of the scripts in deploy."""
    page = tree.text("docs/metrics.md")
    names = set(re.findall(r"`(humon_(?:backup|certificate)_\w+)`", page))
    for name, kind in re.findall(r"(?m)^\| `([a-z_]+)` \| (\w+) \|", page):
        names.update([name + end for end in ("_bucket", "_sum", "_count")] if kind == "histogram" else [name])
    for path in ["deploy/grafana/humon.json", *alert_files(tree)]:
        text = tree.text(path)
        for match in re.finditer(r"\b(?:humon|process)_[a-z_]+\b(?!\.prom)", text):
            if match[0] not in names: yield path, line_at(text, match.start()), f"there is no metric {match[0]}; docs/metrics.md lists them"


@rule
def deployment_files_name_settings_and_files_that_exist(tree):
    for path in deployment(tree):
        for number, line in enumerate(tree.text(path).split("\n"), 1):
            if not line.lstrip(" ").startswith("#") and not path.startswith("deploy/grafana"):
                for name in re.findall(r"\b(HUMON_[A-Z_]+|TB_[A-Z_]+|DATABASE_URL\w*)\b", line):
                    if name not in tree.settings: yield path, number, f"there is no setting {name}; docs/settings.md lists them"
            named = re.findall(r"\b((?:deploy|docs|scripts|Sources)/[A-Za-z0-9_@/.-]*[A-Za-z0-9])", line)
            # Containers mount these files. Git ignores the secrets and certificates, which an operator makes on the machine.
            if path.startswith("docker-compose"): named += re.findall(r"^ *- \./((?!secrets/|tls)[^:]+):", line)
            if path == "Dockerfile" and line.startswith("COPY ") and "--from" not in line:
                named += [file for file in line.split()[1:-1] if "*" not in file]
            for file in dict.fromkeys(named):
                if not tree.exists(file): yield path, number, f"{file} is not there; correct the path"


COMPOSE = "docker-compose.yml"


def services(tree):
    """The services of Compose: name, line and what Compose reads, with the parts that they share."""
    text = tree.text(COMPOSE)
    for name, service in ((yaml.safe_load(text) or {}).get("services") or {}).items(): yield name, line_of(text, f"\n  {name}:") + 1, service


@rule
def services_name_what_is_declared(tree):
    document = yaml.safe_load(tree.text(COMPOSE)) or {}
    declared = {kind: set(document.get(kind) or {}) for kind in ("services", "secrets", "networks")}
    # No script can make the addresses of receivers: the guide asks for them, and Compose starts no Alertmanager without.
    receivers = set(re.findall(r"url_file: /run/secrets/(\w+)", tree.text("deploy/prometheus/alertmanager.yml")))
    for name, line, service in services(tree):
        secrets = [secret["source"] if isinstance(secret, dict) else secret for secret in service.get("secrets") or []]
        named = {"secrets": secrets, "services": service.get("depends_on") or [], "networks": service.get("networks") or []}
        for kind, names in named.items():
            for other in sorted({*names} - declared[kind]): yield COMPOSE, line, f"{name} names {other}, which {kind} do not declare; declare it"
        if not named["networks"]: yield COMPOSE, line, f"{name} joins no network; name its networks"
        if name == "alertmanager" and {*secrets} != receivers: yield COMPOSE, line, "alertmanager.yml reads other secrets; make the two equal"
    if receivers and "alertmanager" not in declared["services"]: yield COMPOSE, 1, "this rule finds no alertmanager; correct the rule"
    for address in sorted(receivers):
        if f"secrets/{address}" not in tree.text("docs/deploying.md"): yield "docs/deploying.md", 1, f"the guide does not ask for secrets/{address}; add it"
    made = set(re.findall(r"(?m)^keep (\w+)", tree.text("deploy/make-secrets")))
    for secret in sorted(declared["secrets"] - made - receivers):
        yield COMPOSE, line_of(tree.text(COMPOSE), f"\n  {secret}:") + 1, f"nobody makes {secret}; add it to deploy/make-secrets"


@rule
def images_have_the_tag_of_one_release(tree):
    for name, line, service in services(tree):
        if not re.search(r":(v?\d+\.\d+(\.\d+)?[\w.-]*|\$\{IMAGE_TAG:-\d+\.\d+\.\d+\})$", service.get("image", "")):
            yield COMPOSE, line, f"the image of {name} may change; give it the tag of a release"
    text = tree.text("Dockerfile")
    bases = re.findall(r"(?m)^ARG \w+_IMAGE=(\S+)$", text)
    if len(bases) != 3: yield "Dockerfile", 1, "this rule does not find three images; correct the rule"
    for base in bases:
        if not re.search(r":\d+\.\d+", base): yield "Dockerfile", line_of(text, base), f"{base} may change; give it the tag of a release"


@rule
def containers_are_confined(tree):
    for name, line, service in services(tree):
        processors = str(service.get("cpus", ""))
        options = (service.get("logging") or {}).get("options") or {}
        kept = {
            "cap_drop: [ALL]": service.get("cap_drop") == ["ALL"],
            "security_opt: no-new-privileges": service.get("security_opt") == ["no-new-privileges:true"],
            "mem_limit": isinstance(service.get("mem_limit"), str),
            # Docker refuses a limit above the processors of the machine.
            "cpu_shares, or one of cpus at most": isinstance(service.get("cpu_shares"), int)
            or re.fullmatch(r"[0-9.]+", processors) is not None and float(processors) <= 1,
            "pids_limit": isinstance(service.get("pids_limit"), int),
            # The database also writes outside of its volumes: its socket, and files of its entrypoint.
            "read_only: true": service.get("read_only") is True or name == "database",
            "max-size and max-file of its log": {"max-size", "max-file"} <= {*options},
        }
        for part, is_there in kept.items():
            if not is_there: yield COMPOSE, line, f"{name} has not {part}; add it"
        for port in service.get("ports") or []:
            if not str(port).startswith(("127.0.0.1:", "${PROXY_ADDRESS:-127.0.0.1}:")):
                yield COMPOSE, line, f"without TLS {name} is open to the network at {port}; publish it on loopback"


@rule
def nginx_fits_into_its_memory(tree):
    path, tls = "deploy/nginx/server.conf", "deploy/nginx/templates/tls.conf.template"
    text = tree.text(path)

    def number(pattern):
        match = re.search(pattern, text)
        return int(match[1]) if match else 1 << 30

    response = 16 * number(r"\nproxy_buffers (\d+) 16k;") + number(r"\nproxy_buffer_size (\d+)k;")
    requests = number(r"\nlimit_conn requests_of_all (\d+);")
    # The rest is for streams and connections.
    if requests * (number(r"\nclient_body_buffer_size (\d+)k;") + response) * 1_024 >= 600_000_000:
        yield path, line_of(text, "limit_conn requests_of_all"), "the buffers of all requests do not fit into 600 MB; lower one of the numbers"
    if "proxy" not in {name for name, _, _ in services(tree)}: yield COMPOSE, 1, "this rule finds no proxy; correct the rule"
    for name, line, service in services(tree):
        if name == "proxy" and service.get("mem_limit") != "1g": yield COMPOSE, line, "the rule reckons with 1g for nginx; correct the rule"
    if "http2_max_concurrent_streams 32;" not in tree.text(tls): yield tls, 1, "a connection has too many streams; set http2_max_concurrent_streams 32"
    for limit in ("limit_conn requests_of_client ", "limit_conn streams_of_client ", "limit_req zone=rate_of_client "):
        # The server that redirects to TLS does not include server.conf, and has no streams.
        for file in (path, *(() if "streams" in limit else (tls,))):
            if limit not in tree.text(file): yield file, 1, f"a client has no limit; add {limit.strip()}"


@rule
def nginx_is_careful(tree):
    for path in tree.below("deploy/nginx"):
        for number, line in enumerate(tree.text(path).split("\n"), 1):
            # A location with headers of its own inherits none.
            if "add_header " in line and not line.startswith("#") and not (
                    path == "deploy/nginx/server.conf" and re.fullmatch("add_header .* always;", line)):
                yield path, number, "headers are added in one place; move the line into deploy/nginx/server.conf, with always"
    if "\nerror_log stderr emerg;\n" not in tree.text("deploy/nginx/server.conf"):
        yield "deploy/nginx/server.conf", 1, "errors of nginx quote request lines; write error_log stderr emerg;"
    for name in ("humon", "tls"):
        path = f"deploy/nginx/templates/{name}.conf.template"
        text = tree.text(path)
        for match in re.finditer(r"\nserver \{(?:(?!\nserver \{).)*", text, re.DOTALL):
            if "include humon/server.conf;" not in match[0] and "error_log stderr emerg;" not in match[0]:
                yield path, line_at(text, match.start()) + 1, "errors of this server quote request lines; write error_log stderr emerg;"
        formats = list(re.finditer(r"log_format\s+humon\b([^;]*);", text))
        if name == "humon" and not formats: yield path, 1, "this rule finds no log_format humon; correct the rule"
        for match in formats:
            for variable in ("$request ", '$request"', '$request_uri"', '$uri"', "$args", "$query_string", "$http_", "$cookie"):
                if variable in match[1]: yield path, line_at(text, match.start()), f"the log may quote a token by {variable}; leave it out"
    for path in ("docker-compose.yml", "docker-compose.tls.yml"):
        text = tree.text(path)
        listens = list(re.finditer(r"""(?m)^ +PROXY_\w*LISTEN: *["']?(.*?)["']?$""", text))
        if not listens: yield path, 1, "this rule finds no PROXY_LISTEN; correct the rule"
        for match in listens:
            port = re.search(r"listen (\d+)", match[1])
            if "127.0.0.1" not in match[1] and not (port and f"listen [::]:{port[1]}" in match[1]):
                yield path, line_at(text, match.start()), "nginx does not listen with IPv6; add listen [::]:PORT"


@rule
def databases_are_careful(tree):
    patroni, alone = "deploy/patroni/patroni.yml", "deploy/postgres/postgresql.conf"
    for setting in ("archive_command", "archive_timeout", "wal_compression"):
        values = [[text.strip(" '") for text in re.findall(rf"(?m)^ *{setting} *[:=](.*)", tree.text(path))] for path in (patroni, alone)]
        if len(values[0]) != 1 or values[0] != values[1]:
            yield patroni, line_of(tree.text(patroni), setting), f"{setting} is missing here or in {alone}, or differs; PostgreSQL archives alike"
    for path in (patroni, "deploy/postgres/pg_hba.conf"):
        admissions = list(re.finditer(r"(?m)^[ \t-]*host\w*[ \t]+\S+[ \t]+(\S+)", tree.text(path)))
        if not admissions: yield path, 1, "this rule finds no host that is admitted; correct the rule"
        for match in admissions:
            if {"postgres", "all"}.intersection(match[1].split(",")):
                yield path, line_at(tree.text(path), match.start()), "the network admits a superuser; name the users, without postgres"
    settings = ((yaml.safe_load(tree.text(patroni)) or {}).get("bootstrap") or {}).get("dcs") or {}
    if settings.get("synchronous_mode") is not True:
        yield patroni, line_of(tree.text(patroni), "synchronous_mode"), "a replica without all acknowledged writes may lead; set synchronous_mode: true"
    times = [settings.get("ttl", 0), *(settings.get(name, 1 << 30) for name in ("loop_wait", "retry_timeout"))]
    if times[1] + 2 * times[2] > times[0]:
        yield patroni, line_of(tree.text(patroni), "ttl:"), "a leader may be replaced too early; keep loop_wait + 2 * retry_timeout within ttl"
    passed = re.search(r"server a .* maxconn (\d+)", tree.text("deploy/haproxy/haproxy.cfg"))
    there = re.search(r"max_connections: (\d+)", tree.text(patroni))
    if not passed or not there or 2 * int(passed[1]) + int(there[1]) // 5 > int(there[1]):
        yield "deploy/haproxy/haproxy.cfg", 1, "two HAProxy leave PostgreSQL less than a fifth of its connections; lower maxconn"
    if not re.search(r"(?m)^ETCD_AUTO_COMPACTION_RETENTION=\d+h$", tree.text("deploy/etcd/etcd.template")):
        yield "deploy/etcd/etcd.template", 1, "etcd does not compact itself; set ETCD_AUTO_COMPACTION_RETENTION"
    for user, file in (("root --interactive=false", "etcd_root_password"), ("patroni --interactive=false", "etcd_password")):
        if f'user add {user} <"$1/{file}"' not in tree.text("deploy/etcd/enable-authentication"):
            yield "deploy/etcd/enable-authentication", 1, f"{user.split()[0]} has no password of its own; read it from {file}"


@rule
def units_pause_and_have_documentation(tree):
    for path in tree.below("deploy/systemd"):
        if not path.endswith((".service", ".timer", ".conf")): continue
        text = tree.text(path)
        if re.search(r"(?m)^Restart(Sec)?=", text) and not re.search(r"(?m)^StartLimitBurst=\d+", text):
            yield path, line_of(text, "\nRestart") + 1, "the unit is restarted for ever without pauses; set StartLimitBurst"
        documents = re.findall(r"file://(\S+)", text)
        if not documents: yield path, 1, "the unit has no documentation; add Documentation=file://…"
        for file in documents:
            if not file.startswith("/usr/share/doc/humon/") or not tree.exists(f"docs/{file.removeprefix('/usr/share/doc/humon/')}"):
                yield path, line_of(text, file), f"the package does not install {file}; name another page"
