// swift-tools-version: 6.2

import PackageDescription

// A package with HumonClient alone, for apps. SwiftPM fetches all packages of a manifest, even packages that a product does not need.
let package = Package(
    name: "HumonClient",
    platforms: [.iOS(.v16), .macOS(.v13)],
    products: [
        .library(name: "HumonClient", targets: ["HumonClient"])
    ],
    targets: [
        .target(
            name: "HumonClient",
            path: "Sources",
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ]
        )
    ]
)
