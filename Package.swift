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
}

/// The headers of a system library.
func headers(_ name: String, from package: String, pkgConfig: String? = nil) -> [Target] {
    [.systemLibrary(name: name, path: "Libraries/C/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])]
}

/// A library, which knows nothing of Humon. Its sources and its tests are in one folder. Here and below, tests see what the sources see:
/// SwiftPM builds tests again only if a target changes that they name.
func library(_ name: String, _ dependencies: [Target.Dependency] = [], tests: [Target.Dependency]) -> [Target] {
    [
        .target(name: name, dependencies: dependencies, path: "Libraries/\(name)/Sources"),
        .testTarget(
            name: name + "Tests", dependencies: [.byName(name: name)] + dependencies + tests, path: "Libraries/\(name)/Tests"),
    ]
}

/// A part of the product.
/// - Parameter testFiles: folders of files that its tests read
func part(
    _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [], tests: [Target.Dependency]? = nil,
    testFiles: [String] = []
) -> [Target] {
    let target = Target.target(name: name, dependencies: dependencies, exclude: exclude)
    guard let tests else { return [target] }
    return [
        target,
        .testTarget(name: name + "Tests", dependencies: [.byName(name: name)] + dependencies + tests, exclude: testFiles),
    ]
}

/// What several targets of tests share.
func support(_ name: String, _ dependencies: [Target.Dependency] = []) -> [Target] {
    [.target(name: name, dependencies: dependencies, path: "Tests/Support/\(name)")]
}

let targets: [[Target]] = [
    headers("CLibPQ", from: "libpq-dev"),
    headers("CJemalloc", from: "libjemalloc-dev"),
    headers("CISAL", from: "libisal-dev"),
    headers("COpenSSL", from: "libssl-dev", pkgConfig: "libcrypto"),
    headers("CZlib", from: "zlib1g-dev"),
    headers("CZstd", from: "libzstd-dev"),
    // The files of db. Their list is in log_schema.c.
    [.target(name: "CLogSchema", path: "Libraries/C/CLogSchema")],
    library("Encoding", tests: ["TestChance"]),
    library("Hashing", ["COpenSSL"], tests: ["Encoding", "TestDatabase"]),
    library("Telemetry", ["Encoding", .logging], tests: ["TestChance", "TestExposition"]),
    library(
        "Postgres", ["CLibPQ", "Encoding", "Telemetry", .dequeModule, .logging, .serviceLifecycle],
        tests: ["EmbeddedPostgres", "TestChance", "TestDatabase", "TestFixture"]),
    library(
        "EmbeddedPostgres", [.logging, .serviceLifecycle, .subprocess, .systemPackage],
        tests: ["Postgres", "TestDatabase", "TestFixture"]),
    library(
        "EventStore",
        [
            "Postgres", "Encoding", "Telemetry", "CLogSchema", "CZstd", "Hashing", .dequeModule, .logging, .serviceLifecycle,
            .systemPackage,
        ],
        tests: ["TestChance", "TestDatabase", "TestFixture", "EmbeddedPostgres"]),
    library(
        "SpatialIndex", ["CJemalloc", .product(name: "HeapModule", package: "swift-collections")],
        tests: ["TestChance"]),
    library(
        "HTTPServer",
        [
            "Encoding", "Telemetry", "CISAL", "CZstd", .httpTypes, .logging, .nioCore, .nioHTTP1, .nioPosix,
            .serviceLifecycle, .unixSignals,
        ],
        tests: [
            "TestChance", "TestDatabase", "TestHTTP", "TestServer", .product(name: "NIOEmbedded", package: "swift-nio"),
        ]),
    part(
        "Users", ["EventStore", "Postgres", "Encoding", "Hashing", .logging],
        tests: ["TestDatabase"]),
    part(
        "Events",
        ["Users", "EventStore", "Postgres", "Encoding", "SpatialIndex", .dequeModule, .logging, .serviceLifecycle],
        tests: ["TestChance", "TestDatabase", "TestFixture"]),
    part(
        "Attendances", ["Events", "Users", "EventStore", "Postgres", "Encoding", .logging, .serviceLifecycle],
        tests: ["TestDatabase"]),
    part(
        "Accounts", ["EventStore", "Postgres", "Encoding", "Hashing", .dequeModule],
        tests: ["TestChance", "TestDatabase"]),
    part("Tasks", ["Accounts", "EventStore", "Postgres", "Encoding"], tests: ["TestChance", "TestDatabase"]),
    // The OpenAPI document and its page. Their list is in documentation_files.c.
    part("CDocumentation", exclude: ["openapi.json", "docs.css", "docs.html", "docs.js", "template.html"]),
    part(
        "HTTP",
        [
            "CDocumentation", "HTTPServer", "Attendances", "Tasks", "Accounts", "Events", "Users", "EventStore", "Encoding",
            "Telemetry", "Hashing", .httpTypes, .logging, .nioCore,
        ],
        tests: [
            "App", "Postgres", "CZlib", "CZstd", "TestChance", "TestDatabase", "TestExposition", "TestFixture", "TestHTTP",
            "TestServer", .serviceLifecycle,
        ],
        testFiles: ["Transcripts"]),
    // The files of the map page. Their list is in web_files.c.
    part("CEmbeddedPage", exclude: ["data", "page", "texts"]),
    part(
        "Web", ["CEmbeddedPage", "HTTPServer", "Events", "Users", "EventStore", "Encoding", "Hashing", .httpTypes, .nioCore],
        tests: [
            "humon", "App", "HTTP", "Postgres", "TestDatabase", "TestFixture", "TestHTTP", "TestServer", .logging,
            .nioHTTP1, .serviceLifecycle,
        ]),
    part(
        "App",
        [
            "Web", "HTTP", "HTTPServer", "Attendances", "Accounts", "Events", "Users", "EventStore", "EmbeddedPostgres",
            "Postgres", "Encoding", "Telemetry", .argumentParser, .logging, .nioCore, .nioHTTP1, .serviceLifecycle,
            .systemPackage, .unixSignals,
        ],
        // CEmbeddedPage embeds it.
        exclude: ["Demo/cities.tsv"],
        tests: [
            "humon", "Hashing", "TestChance", "TestDatabase", "TestExposition", "TestFixture", "TestRelease", "TestServer",
        ]),
    [
        .executableTarget(name: "humon", dependencies: ["App"]),
        .target(name: "HumonClient", path: "HumonClient/Sources"),
        .testTarget(
            name: "HumonClientTests",
            dependencies: ["humon", "HumonClient", "TestDatabase", "TestFixture", "TestServer"], path: "HumonClient/Tests"),
        .executableTarget(
            name: "FaultInjection",
            dependencies: [
                "humon", "App", "EventStore", "Encoding", "HTTPServer", "Postgres", "TestChance", "TestDatabase", "TestServer",
                "Hashing", .logging, .nioCore, .nioHTTP1, .nioPosix,
            ], path: "checks/faults"),
        .testTarget(name: "FaultInjectionTests", dependencies: ["FaultInjection", "Postgres", "TestDatabase"]),
        .executableTarget(
            name: "TestRelease",
            dependencies: ["App", "HTTP", "HTTPServer", "EventStore", "Postgres", "Encoding", .httpTypes],
            path: "Tests/Support/TestRelease"),
    ],
    support("CTestProcess"),
    support("TestChance"),
    support("TestExposition"),
    support("TestFixture"),
    support(
        "TestDatabase",
        ["CTestProcess", "EmbeddedPostgres", "Encoding", "EventStore", "Postgres", .logging, .serviceLifecycle]),
    support("TestServer", ["HTTPServer", "TestDatabase", .nioCore, .nioHTTP1]),
    support("TestHTTP", ["HTTPServer", .httpTypes, .logging, .nioCore, .nioHTTP1, .serviceLifecycle]),
]

let package = Package(
    name: "humon",
    platforms: [.macOS(.v15), .iOS(.v16)],
    products: [
        .executable(name: "humon", targets: ["humon"]),
        .library(name: "HumonClient", targets: ["HumonClient"]),
        // What the package in Benchmarks imports.
        .library(name: "Encoding", targets: ["Encoding"]),
        .library(
            name: "MeasuredTargets",
            targets: [
                "App", "HTTP", "HTTPServer", "Events", "Users", "EventStore", "EmbeddedPostgres", "Postgres", "SpatialIndex",
                "Encoding",
            ]),
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
    ],
    targets: Array(targets.joined())
)

// Tests with much code that calls C with pointers, which the compiler does not check.
let callingC: Set = [
    "TestDatabase", "TestServer", "PostgresTests", "EmbeddedPostgresTests", "EventStoreTests", "SpatialIndexTests",
    "HTTPServerTests", "HTTPTests", "WebTests", "AppTests", "HumonClientTests", "FaultInjection",
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
