// swift-tools-version: 6.2

import PackageDescription

// The benchmarks in Swift, a package of their own: nobody else fetches or builds what only they need. `make bench` and
// `make verify NAME=benchmarks` build it. Packages that the server has too have its versions.
extension Target.Dependency {
    static var argumentParser: Self { .product(name: "ArgumentParser", package: "swift-argument-parser") }
    static var encoding: Self { .product(name: "Encoding", package: "humon") }
    static var measured: Self { .product(name: "MeasuredTargets", package: "humon") }
    static var nioCore: Self { .product(name: "NIOCore", package: "swift-nio") }
    static var logging: Self { .product(name: "Logging", package: "swift-log") }
}

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "humon", path: ".."),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", exact: "0.2.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", exact: "1.0.2"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
    ],
    targets: [
        .executableTarget(
            name: "LogBenchmark",
            dependencies: [
                .measured, .argumentParser, .logging,
                .product(name: "Subprocess", package: "swift-subprocess"),
            ],
            path: "Log"
        ),
        .executableTarget(
            name: "LoadGenerator",
            dependencies: [
                .encoding, .argumentParser, .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Histogram", package: "hdrhistogram-swift"), .nioCore,
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Load"
        ),
        .executableTarget(name: "IndexBenchmark", dependencies: [.measured, .argumentParser], path: "Index"),
        .executableTarget(
            name: "HummingbirdPeer",
            dependencies: [
                .measured, .encoding, .logging, .nioCore, .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ],
            path: "Peers/Hummingbird"
        ),
        .testTarget(name: "LoadGeneratorTests", dependencies: ["LoadGenerator", .encoding, .nioCore], path: "LoadTests"),
    ]
)

// The settings of ../Package.swift.
for target in package.targets {
    target.swiftSettings = [
        .swiftLanguageMode(.v6),
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
    // It calls C with pointers, which the compiler does not check.
    if target.name != "LoadGenerator" { target.swiftSettings?.append(.strictMemorySafety()) }
    if target.type == .executable {
        target.linkerSettings = [.unsafeFlags(["-use-ld=lld"], .when(platforms: [.linux], configuration: .release))]
    }
}
