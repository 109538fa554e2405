// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "humon",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "humon", targets: ["humon"])
    ],
    dependencies: [
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", exact: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", exact: "1.7.3"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-configuration", exact: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", exact: "2.1.1"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", exact: "1.0.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
    ],
    targets: [
        .systemLibrary(name: "CLibPQ", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CJemalloc", providers: [.apt(["libjemalloc-dev"])]),
        .systemLibrary(name: "CDeflate", providers: [.apt(["libdeflate-dev"])]),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CZstd", providers: [.apt(["libzstd-dev"])]),
        .target(name: "Encoding"),
        .target(
            name: "Telemetry",
            dependencies: [
                "Encoding",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]
        ),
        .target(
            name: "Postgres",
            dependencies: [
                "CLibPQ", "Encoding", "Telemetry",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]
        ),
        .target(
            name: "EmbeddedPostgres",
            dependencies: [
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .target(
            name: "EventStore",
            dependencies: [
                "Postgres", "Encoding", "Telemetry", "CZlib",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            resources: [.embedInCode("db")]
        ),
        .target(
            name: "Users",
            dependencies: ["EventStore", "Postgres", "Encoding", .product(name: "Crypto", package: "swift-crypto")]
        ),
        .target(
            name: "SpatialIndex",
            dependencies: ["CJemalloc", .product(name: "HeapModule", package: "swift-collections")],
            exclude: ["README.md"]
        ),
        .target(
            name: "Events",
            dependencies: [
                "Users", "EventStore", "Postgres", "Encoding", "SpatialIndex",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        .target(name: "Attendances", dependencies: ["Events", "Users", "EventStore", "Postgres", "Encoding"]),
        .target(
            name: "HTTPServer",
            dependencies: [
                "Encoding", "Telemetry", "CDeflate", "CZstd",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCertificateReloading", package: "swift-nio-extras"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP2", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            exclude: ["README.md"]
        ),
        .target(
            name: "HTTP",
            dependencies: [
                "HTTPServer", "Attendances", "Events", "Users", "EventStore", "Encoding", "Telemetry",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "Yams", package: "Yams"),
            ],
            resources: [
                .embedInCode("openapi.yaml"), .embedInCode("Documentation/page.mustache"), .embedInCode("Documentation/page.css"),
            ]
        ),
        .target(
            name: "App",
            dependencies: [
                "HTTP", "HTTPServer", "Attendances", "Events", "Users", "EventStore", "EmbeddedPostgres", "Postgres", "Encoding",
                "Telemetry",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            resources: [.embedInCode("Demo/cities.tsv")]
        ),
        .executableTarget(name: "humon", dependencies: ["App"]),
        .executableTarget(
            name: "BareServer",
            dependencies: [
                "CJemalloc",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Benchmarks/Bare"
        ),
        .executableTarget(
            name: "LogBenchmark",
            dependencies: [
                "App", "Events", "Users", "EventStore", "EmbeddedPostgres", "Postgres", "Encoding",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Subprocess", package: "swift-subprocess"),
            ],
            path: "Benchmarks/Log"
        ),
        .executableTarget(
            name: "IndexBenchmark",
            dependencies: [
                "HTTP", "Events", "SpatialIndex", "Users", "Encoding", "TestChance",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Benchmarks/Index"
        ),
        // Empty but in builds for the thread sanitizer.
        .target(name: "CThreadSanitizer", path: "Tests/CThreadSanitizer"),
        .target(
            name: "TestDatabase",
            dependencies: [
                "CThreadSanitizer", "EmbeddedPostgres", "EventStore", "Postgres", .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/TestDatabase"
        ),
        .target(
            name: "TestServer",
            dependencies: [
                "TestDatabase",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            path: "Tests/TestServer"
        ),
        .target(
            name: "TestHTTP",
            dependencies: [
                "HTTPServer",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Tests/TestHTTP"
        ),
        .target(name: "TestChance", path: "Tests/TestChance"),
        .target(name: "TestExposition", path: "Tests/TestExposition"),
        .testTarget(name: "ArchitectureTests", dependencies: ["TestDatabase"]),
        .testTarget(name: "EncodingTests", dependencies: ["Encoding", "TestChance"]),
        .testTarget(
            name: "TelemetryTests",
            dependencies: [
                "Telemetry", "Encoding", "TestChance", "TestExposition",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]
        ),
        .testTarget(
            name: "PostgresTests", dependencies: ["Postgres", "EmbeddedPostgres", "Telemetry", "TestChance", "TestDatabase"]),
        .testTarget(
            name: "EmbeddedPostgresTests",
            dependencies: ["EmbeddedPostgres", "Postgres", "TestDatabase", .product(name: "Logging", package: "swift-log")]
        ),
        .testTarget(
            name: "EventStoreTests",
            dependencies: [
                "EventStore", "Telemetry", "TestChance", "TestDatabase", .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
        .testTarget(name: "UsersTests", dependencies: ["Users", "TestChance", "TestDatabase"]),
        .testTarget(name: "SpatialIndexTests", dependencies: ["SpatialIndex", "CJemalloc", "TestChance"]),
        .testTarget(
            name: "EventsTests",
            dependencies: [
                "Events", "Postgres", "SpatialIndex", "TestChance", "TestDatabase",
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        .testTarget(name: "AttendancesTests", dependencies: ["Attendances", "TestChance", "TestDatabase"]),
        .testTarget(
            name: "HTTPServerTests",
            dependencies: [
                "HTTPServer", "Telemetry", "TestChance", "TestHTTP", "TestServer",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ]
        ),
        .testTarget(
            name: "HTTPTests",
            dependencies: [
                "App", "HTTP", "HTTPServer", "CZstd", "CDeflate", "TestChance", "TestDatabase", "TestExposition", "TestHTTP",
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        .testTarget(
            name: "AppTests",
            dependencies: [
                "humon", "App", "EmbeddedPostgres", "EventStore", "HTTPServer", "Encoding", "Postgres", "TestDatabase",
                "TestExposition",
                "TestHTTP",
                "TestServer",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "Yams", package: "Yams"),
            ]
        ),
        .testTarget(
            name: "FaultInjectionTests",
            dependencies: [
                "humon", "App", "EmbeddedPostgres", "EventStore", "Encoding", "Postgres", "TestChance", "TestDatabase",
                "TestServer",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
    ]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .swiftLanguageMode(.v6),
        .treatAllWarnings(as: .error),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
        .enableUpcomingFeature("ExistentialAny"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
        .enableUpcomingFeature("InternalImportsByDefault"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
    // Nonisolated async functions run on the caller's executor, which saves one hop per call. Not in App: its commands start on the
    // main actor, which they must leave.
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0461-async-function-isolation.md
    if target.type == .regular, target.name != "App" {
        target.swiftSettings?.append(.enableUpcomingFeature("NonisolatedNonsendingByDefault"))
    }
}
