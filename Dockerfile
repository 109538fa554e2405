# syntax=docker/dockerfile:1
FROM swift:6.3-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends libpq-dev libjemalloc-dev zlib1g-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /humon
# The packages by themselves first: they change less often than the sources.
COPY Package.* ./
RUN swift package resolve
COPY Sources Sources
COPY Benchmarks Benchmarks
COPY Tests Tests
COPY db db
COPY docs/openapi.yaml docs/openapi.yaml
RUN swift build --configuration release --product humon --static-swift-stdlib \
    && install -D --strip .build/release/humon /out/humon

FROM debian:bookworm-slim
# libpq and jemalloc and what they need; everything else is in the program or in Debian's base.
RUN apt-get update && apt-get install -y --no-install-recommends libpq5 libjemalloc2 zlib1g libstdc++6 ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin humon
COPY --from=build /out/humon /usr/local/bin/humon
COPY deploy/humon/ready /usr/local/bin/humon-ready
USER 10001
WORKDIR /
ENV HUMON_HOST=0.0.0.0 HUMON_ADMIN_HOST=0.0.0.0
EXPOSE 8080 8081
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s --retries=2 CMD ["humon-ready"]
ENTRYPOINT ["humon"]
CMD ["serve"]
