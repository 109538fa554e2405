# syntax=docker/dockerfile:1.7
# A tag names one release, but a registry can move it. For a build that is repeatable to the byte, use digests: docker build
# --build-arg SWIFT_IMAGE=swift@sha256:…
ARG SWIFT_IMAGE=swift:6.3.1-bookworm
ARG DEBIAN_IMAGE=debian:12.12-slim@sha256:d5d3f9c23164ea16f31852f95bd5959aad1c5e854332fe00f7b3a20fcc9f635c
ARG POSTGRES_IMAGE=postgres:15.18-bookworm@sha256:b0c5bab0fbba8e0c221f73b1dc6359ec35f8650074377e727299df248fc8ad51

# Leaflet and the coasts, which the map page contains.
FROM ${DEBIAN_IMAGE} AS page
RUN apt-get update && apt-get install -y --no-install-recommends python3-pip python3-numpy ca-certificates && rm -rf /var/lib/apt/lists/*
WORKDIR /humon
COPY scripts/third-party scripts/coast scripts/
RUN scripts/third-party page && rm third-party/coast/gshhs*

FROM ${SWIFT_IMAGE} AS build
RUN apt-get update && apt-get install -y --no-install-recommends libpq-dev libssl-dev libjemalloc-dev libisal-dev libzstd-dev zlib1g-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /humon
# Packages first, because they change less often than the sources. Each has the version that the tests ran with.
COPY Package.swift ./
COPY deploy/packages.txt deploy/pin-packages deploy/
RUN deploy/pin-packages
COPY --from=page /humon/third-party third-party
COPY Libraries Libraries
COPY Sources Sources
COPY HumonClient HumonClient
COPY Tests Tests
COPY db db
COPY scripts/release scripts/release
# Without a change to Package.resolved: another version ends the build.
RUN scripts/release humon --force-resolved-versions \
    && install -D --strip .build/release/humon /out/humon

# Base backups and their trial restore, which need PostgreSQL of the database's version and humon.
FROM ${POSTGRES_IMAGE} AS backup
RUN apt-get update && apt-get install -y --no-install-recommends libpq5 libssl3 libjemalloc2 libisal2 libzstd1 \
    && rm -rf /var/lib/apt/lists/* \
    && install -d -m 700 -o postgres -g postgres /backups \
    && install -d -m 755 -o postgres -g postgres /metrics
COPY --from=build /out/humon /usr/local/bin/humon
COPY deploy/backup/ /usr/local/bin/
# The image has postgres as 999.
USER 999
WORKDIR /tmp
ENTRYPOINT []
CMD ["humon-backup-daily"]

# `docker build` builds the last stage unless --target names another.
FROM ${DEBIAN_IMAGE} AS humon
# libpq, jemalloc and their dependencies; everything else is in the program or in Debian's base. No versions here: Debian's
# mirrors keep only the newest ones, which have the security fixes.
RUN apt-get update && apt-get upgrade -y \
    && apt-get install -y --no-install-recommends libpq5 libssl3 libjemalloc2 libisal2 libzstd1 libstdc++6 ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin humon \
    && install -d -m 700 -o humon /erasures
LABEL org.opencontainers.image.title="Humon" \
    org.opencontainers.image.description="Events near you on a map, from a log of domain events" \
    org.opencontainers.image.licenses="MIT" \
    org.opencontainers.image.version="1.0.0"
COPY --from=build /out/humon /usr/local/bin/humon
COPY deploy/humon/ready /usr/local/bin/humon-ready
USER 10001
WORKDIR /
# Clients connect from outside the container. The operators' address stays on loopback until HUMON_ADMIN_HOST and a token are set.
ENV HUMON_HOST=0.0.0.0
EXPOSE 8080 8081
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s --retries=2 CMD ["humon-ready"]
ENTRYPOINT ["humon"]
CMD ["serve"]
