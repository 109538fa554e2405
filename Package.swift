// swift-tools-version: 6.2

import PackageDescription

// Products that several targets use.
extension Target.Dependency {
    static var argumentParser: Self { .product(name: "ArgumentParser", package: "swift-argument-parser") }
    static var dequeModule: Self { .product(name: "DequeModule", package: "swift-collections") }
    static var httpTypes: Self { .product(name: "HTTPTypes", package: "swift-http-types") }
    static var logging: Self { .product(name: "Logging", package: "swift-log") }
    static var nioCore: Self { .product(name: "NIOCore", package: "swift-nio") }
    static var nioHTTP1: Self { .product(name: "NIOHTTP1", package: "swift-nio") }
    static var nioPosix: Self { .product(name: "NIOPosix", package: "swift-nio") }
    static var serviceLifecycle: Self { .product(name: "ServiceLifecycle", package: "swift-service-lifecycle") }
    static var subprocess: Self { .product(name: "Subprocess", package: "swift-subprocess") }
    static var systemPackage: Self { .product(name: "SystemPackage", package: "swift-system") }
    static var unixSignals: Self { .product(name: "UnixSignals", package: "swift-service-lifecycle") }
    static var yams: Self { .product(name: "Yams", package: "Yams") }
}

let package = Package(
    name: "humon",
    platforms: [.macOS(.v15), .iOS(.v16)],
    products: [
        .executable(name: "humon", targets: ["humon"]),
        .library(name: "HumonClient", targets: ["HumonClient"]),
        .executable(name: "near-me", targets: ["NearMe"]),
        // What the package in Benchmarks imports.
        .library(name: "Encoding", targets: ["Encoding"]),
        .library(
            name: "MeasuredTargets",
            targets: ["App", "HTTP", "Events", "Users", "EventStore", "EmbeddedPostgres", "Postgres", "SpatialIndex", "Encoding"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", exact: "1.0.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
    ],
    targets: [
        .systemLibrary(name: "CLibPQ", path: "Libraries/C/CLibPQ", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CJemalloc", path: "Libraries/C/CJemalloc", providers: [.apt(["libjemalloc-dev"])]),
        .systemLibrary(name: "CISAL", path: "Libraries/C/CISAL", providers: [.apt(["libisal-dev"])]),
        .systemLibrary(name: "COpenSSL", path: "Libraries/C/COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CZlib", path: "Libraries/C/CZlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CZstd", path: "Libraries/C/CZstd", providers: [.apt(["libzstd-dev"])]),
        // The files of db. Their list is in log_schema.c.
        .target(name: "CLogSchema", path: "Libraries/C/CLogSchema"),
        .target(name: "Encoding"),
        .target(name: "Hashing", dependencies: ["COpenSSL"]),
        .target(name: "Transparency", dependencies: ["Encoding", "Hashing"]),
        .target(name: "Telemetry", dependencies: ["Encoding", .logging]),
        .target(
            name: "Postgres", dependencies: ["CLibPQ", "Encoding", "Telemetry", .dequeModule, .logging, .serviceLifecycle]),
        .target(name: "EmbeddedPostgres", dependencies: [.logging, .serviceLifecycle, .subprocess, .systemPackage]),
        .target(
            name: "EventStore",
            dependencies: [
                "Postgres", "Encoding", "Telemetry", "CLogSchema", "CZstd", "Hashing", .dequeModule, .logging, .serviceLifecycle,
                .systemPackage,
            ]
        ),
        .target(name: "Users", dependencies: ["EventStore", "Postgres", "Encoding", "Hashing", .logging, .serviceLifecycle]),
        .target(name: "SpatialIndex", dependencies: ["CJemalloc", .product(name: "HeapModule", package: "swift-collections")]),
        .target(
            name: "Events",
            dependencies: [
                "Users", "EventStore", "Postgres", "Encoding", "SpatialIndex", .dequeModule, .logging, .serviceLifecycle,
            ]
        ),
        .target(
            name: "Attendances",
            dependencies: ["Events", "Users", "EventStore", "Postgres", "Encoding", .logging, .serviceLifecycle]
        ),
        .target(name: "Accounts", dependencies: ["EventStore", "Postgres", "Encoding", "Hashing", .dequeModule]),
        .target(name: "Tasks", dependencies: ["Accounts", "EventStore", "Postgres", "Encoding"]),
        .target(
            name: "HTTPServer",
            dependencies: [
                "Encoding", "Telemetry", "CISAL", "CZstd", .httpTypes, .logging, .nioCore, .nioHTTP1, .nioPosix,
                .serviceLifecycle, .unixSignals,
            ]
        ),
        // The OpenAPI document and its page. Their list is in documentation_files.c.
        .target(name: "CDocumentation", exclude: ["openapi.json", "docs.css", "docs.html", "template.html"]),
        .target(
            name: "HTTP",
            dependencies: [
                "CDocumentation", "HTTPServer", "Attendances", "Tasks", "Accounts", "Events", "Users", "EventStore", "Encoding",
                "Telemetry", "Hashing", .httpTypes, .logging, .nioCore, .serviceLifecycle,
            ]
        ),
        // The files of the map page. Their list is in web_files.c.
        .target(name: "CWebPage", exclude: ["data", "page"]),
        .target(
            name: "Web",
            dependencies: ["CWebPage", "HTTPServer", "Users", "EventStore", "Encoding", "Hashing", .httpTypes, .nioCore]
        ),
        .target(
            name: "App",
            dependencies: [
                "Web", "HTTP", "HTTPServer", "Attendances", "Accounts", "Events", "Users", "EventStore", "EmbeddedPostgres",
                "Postgres", "Encoding", "Hashing", "Telemetry", "Transparency", .argumentParser, .httpTypes, .logging,
                .nioCore, .nioHTTP1, .serviceLifecycle, .systemPackage, .unixSignals,
            ],
            // CWebPage embeds it.
            exclude: ["Demo/cities.tsv"]
        ),
        .executableTarget(name: "humon", dependencies: ["App"]),
        .target(name: "HumonClient", path: "HumonClient/Sources"),
        .executableTarget(name: "NearMe", dependencies: ["HumonClient"], path: "HumonClient/NearMe"),
        .target(name: "CTestProcess", path: "Tests/Support/CTestProcess"),
        .target(
            name: "TestDatabase",
            dependencies: ["CTestProcess", "EmbeddedPostgres", "Encoding", "EventStore", "Postgres", .logging, .serviceLifecycle]
        ),
        .target(name: "TestServer", dependencies: ["HTTPServer", "TestDatabase", .nioCore, .nioHTTP1]),
        .target(
            name: "TestHTTP", dependencies: ["HTTPServer", .httpTypes, .logging, .nioCore, .nioHTTP1, .serviceLifecycle]
        ),
        .executableTarget(
            name: "TestRelease", dependencies: ["App", "HTTP", "HTTPServer", "EventStore", "Postgres", "Encoding", .httpTypes]),
        .target(name: "TestChance"),
        .target(name: "TestExposition"),
        .testTarget(name: "EncodingTests", dependencies: ["Encoding", "TestChance"]),
        .testTarget(name: "HashingTests", dependencies: ["Hashing", "Encoding", "TestDatabase"]),
        .testTarget(name: "TelemetryTests", dependencies: ["Telemetry", "Encoding", "TestChance", "TestExposition", .logging]),
        .testTarget(
            name: "TransparencyTests", dependencies: ["Transparency", "Hashing", "Encoding", "TestChance"]),
        .testTarget(
            name: "PostgresTests", dependencies: ["Postgres", "EmbeddedPostgres", "Telemetry", "TestChance", "TestDatabase"]),
        .testTarget(name: "EmbeddedPostgresTests", dependencies: ["EmbeddedPostgres", "Postgres", "TestDatabase", .logging]),
        .testTarget(
            name: "EventStoreTests",
            dependencies: ["EventStore", "Telemetry", "TestChance", "TestDatabase", "Hashing", .serviceLifecycle]
        ),
        .testTarget(name: "UsersTests", dependencies: ["Users", "TestChance", "TestDatabase"]),
        .testTarget(name: "SpatialIndexTests", dependencies: ["SpatialIndex", "CJemalloc", "TestChance"]),
        .testTarget(
            name: "EventsTests",
            dependencies: ["Events", "Postgres", "SpatialIndex", "TestChance", "TestDatabase", .serviceLifecycle]
        ),
        .testTarget(
            name: "AttendancesTests", dependencies: ["Attendances", "Postgres", "TestChance", "TestDatabase", .serviceLifecycle]),
        .testTarget(name: "AccountsTests", dependencies: ["Accounts", "Hashing", "TestChance", "TestDatabase"]),
        .testTarget(name: "TasksTests", dependencies: ["Tasks", "TestChance", "TestDatabase"]),
        .testTarget(
            name: "HTTPServerTests",
            dependencies: [
                "HTTPServer", "TestChance", "TestDatabase", "TestHTTP", "TestServer", .httpTypes, .logging, .nioCore,
                .product(name: "NIOEmbedded", package: "swift-nio"), .nioHTTP1, .serviceLifecycle, .unixSignals,
            ]
        ),
        .testTarget(
            name: "HTTPTests",
            dependencies: [
                "App", "HTTP", "HTTPServer", "Hashing", "CZlib", "CZstd", "TestChance", "TestDatabase", "TestExposition",
                "TestHTTP", "TestServer", .serviceLifecycle, .yams,
            ]
        ),
        .testTarget(
            name: "WebTests",
            dependencies: [
                "humon", "Web", "App", "HTTP", "HTTPServer", "Users", "EventStore", "Postgres", "Encoding", "TestDatabase",
                "TestHTTP", "TestServer", .httpTypes, .logging, .nioCore, .serviceLifecycle,
            ]
        ),
        .testTarget(
            name: "AppTests",
            dependencies: [
                "humon", "App", "EventStore", "Encoding", "Postgres", "TestChance", "TestDatabase", "TestExposition",
                "TestRelease", "TestServer", .argumentParser, "Hashing", .logging, .nioHTTP1, .yams,
            ]
        ),
        .testTarget(
            name: "HumonClientTests",
            dependencies: ["humon", "HumonClient", "NearMe", "TestDatabase", "TestServer", .yams],
            path: "HumonClient/Tests"
        ),
        .testTarget(
            name: "FaultInjectionTests",
            dependencies: [
                "humon", "App", "EventStore", "Encoding", "HTTPServer", "Postgres", "TestChance", "TestDatabase", "TestServer",
                "Hashing", .logging, .nioCore, .nioHTTP1, .nioPosix,
            ]
        ),
    ]
)

// A target without a path: Sources/NAME or Tests/NAME, and one folder for the sources and the tests of a library.
let libraries = [
    "Encoding", "Hashing", "Transparency", "Telemetry", "Postgres", "EmbeddedPostgres", "EventStore", "SpatialIndex",
    "HTTPServer",
]
for target in package.targets where target.path == nil {
    if libraries.contains(target.name) {
        target.path = "Libraries/\(target.name)/Sources"
    } else if let library = libraries.first(where: { target.name == "\($0)Tests" }) {
        target.path = "Libraries/\(library)/Tests"
    } else if target.name.hasPrefix("Test") {
        target.path = "Tests/Support/\(target.name)"
    }
}

// Tests with much code that calls C with pointers, which the compiler does not check.
let callingC: Set = [
    "TestDatabase", "TestServer", "PostgresTests", "EmbeddedPostgresTests", "EventStoreTests", "SpatialIndexTests",
    "HTTPServerTests", "HTTPTests", "WebTests", "AppTests", "HumonClientTests", "FaultInjectionTests",
]
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
    // unsafe.txt lists the files with unsafe code.
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0458-strict-memory-safety.md
    if !callingC.contains(target.name) { target.swiftSettings?.append(.strictMemorySafety()) }
    // `@_lifetime`, which SwiftNIO uses too: a cell of a result cannot outlive its row.
    if target.name == "Postgres" { target.swiftSettings?.append(.enableExperimentalFeature("Lifetimes")) }
    // Nonisolated async functions run on the caller's executor, which saves one hop per call. Not in App: its commands start on the
    // main actor, which they must leave.
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0461-async-function-isolation.md
    if target.type == .regular, target.name != "App" {
        target.swiftSettings?.append(.enableUpcomingFeature("NonisolatedNonsendingByDefault"))
    }
    // Programs for production contain Swift's libraries (scripts/release). LLD links them without the warning that other linkers print
    // for a function in Foundation.
    if target.type == .executable {
        target.linkerSettings = [.unsafeFlags(["-use-ld=lld"], .when(platforms: [.linux], configuration: .release))]
    }
}
