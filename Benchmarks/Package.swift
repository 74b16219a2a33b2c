// swift-tools-version:6.2
import Foundation
import PackageDescription

// Package name and settings are those of Fuzz/Package.swift, which explains them.
let folder = URL(filePath: Context.packageDirectory).deletingLastPathComponent().lastPathComponent
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
    .unsafeFlags(["-package-name", folder.lowercased().replacing(/\W|^\d/, with: "_")]),
]

/// Returns the products that a target uses, by package.
func products(_ products: KeyValuePairs<String, [String]>) -> [Target.Dependency] {
    products.flatMap { package, names in names.map { .product(name: $0, package: package) } }
}

/// A package that Martlet uses too, whose manifest decides about the version.
func shared(_ repository: String) -> Package.Dependency {
    .package(url: "https://github.com/\(repository)", "0.0.0"..<"999.0.0")
}

func benchmark(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name,
        dependencies: dependencies,
        path: name,
        packageAccess: false,
        swiftSettings: settings
    )
}

let package = Package(
    name: "martlet-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "martlet", path: ".."), shared("apple/swift-argument-parser"), shared("apple/swift-asn1"),
        shared("apple/swift-certificates"), shared("apple/swift-crypto"), shared("apple/swift-log"),
        shared("apple/swift-nio"), shared("apple/swift-nio-ssl"), shared("groue/GRDB.swift"),
        shared("hummingbird-project/hummingbird"), shared("apple/swift-http-types"),
        shared("swift-server/async-http-client"),
    ],
    targets: [
        .target(name: "Benchmarking", path: "Benchmarking", packageAccess: false, swiftSettings: settings),
        benchmark(
            "SenderBenchmark",
            products([
                "martlet": ["PushSender"], "swift-argument-parser": ["ArgumentParser"], "swift-log": ["Logging"],
                "swift-nio": ["NIOCore"],
            ])
        ),
        benchmark(
            "GatewayBenchmark",
            ["Benchmarking"]
                + products([
                    "martlet": ["PushDevice", "PushSender"], "swift-argument-parser": ["ArgumentParser"],
                    "async-http-client": ["AsyncHTTPClient"], "swift-crypto": ["Crypto"], "swift-log": ["Logging"],
                    "swift-nio": ["NIOCore", "NIOHTTP1", "NIOPosix"], "swift-nio-ssl": ["NIOSSL"],
                    "swift-asn1": ["SwiftASN1"], "swift-certificates": ["X509"],
                ])
        ),
        benchmark(
            "CampaignBenchmark",
            ["Benchmarking"]
                + products([
                    "martlet": ["_MartletProvider", "PushSender"], "swift-argument-parser": ["ArgumentParser"],
                    "async-http-client": ["AsyncHTTPClient"], "GRDB.swift": ["GRDB"], "swift-log": ["Logging"],
                    "swift-nio": ["NIOCore", "NIOFoundationCompat", "NIOHTTP1"],
                ])
        ),
        benchmark(
            "BridgeBenchmark",
            ["Benchmarking"]
                + products([
                    "martlet": ["_MartletProvider", "PushSender"], "swift-argument-parser": ["ArgumentParser"],
                    "async-http-client": ["AsyncHTTPClient"], "GRDB.swift": ["GRDB"],
                    "swift-nio": ["NIOCore", "NIOHTTP1", "NIOPosix"],
                ])
        ),
        benchmark(
            "PublishingBenchmark",
            ["Benchmarking"]
                + products([
                    "martlet": ["_MartletReader", "MartletKit"], "swift-argument-parser": ["ArgumentParser"],
                    "swift-crypto": ["Crypto"], "swift-http-types": ["HTTPTypes"], "swift-log": ["Logging"],
                    "swift-nio": ["NIOCore"], "swift-nio-ssl": ["NIOSSL"],
                    "hummingbird": ["Hummingbird", "HummingbirdCore", "HummingbirdHTTP2"],
                ])
        ),
        benchmark(
            "SessionsBenchmark",
            ["Benchmarking"]
                + products([
                    "swift-argument-parser": ["ArgumentParser"], "async-http-client": ["AsyncHTTPClient"],
                    "swift-nio": ["NIOCore", "NIOHTTP1", "NIOPosix"], "swift-nio-ssl": ["NIOSSL"],
                ])
        ),
    ],
    swiftLanguageModes: [.v6]
)
