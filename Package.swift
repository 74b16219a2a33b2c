// swift-tools-version:6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

extension Target.Dependency {
    static let argumentParser = product(name: "ArgumentParser", package: "swift-argument-parser")
    static let asyncHTTPClient = product(name: "AsyncHTTPClient", package: "async-http-client")
    static let configuration = product(name: "Configuration", package: "swift-configuration")
    static let crypto = product(name: "Crypto", package: "swift-crypto")
    static let cryptoExtras = product(name: "CryptoExtras", package: "swift-crypto")
    static let grdb = product(name: "GRDB", package: "GRDB.swift")
    static let httpTypes = product(name: "HTTPTypes", package: "swift-http-types")
    static let grdbSQLite = product(name: "GRDBSQLite", package: "GRDB.swift")
    static let hummingbird = product(name: "Hummingbird", package: "hummingbird")
    static let hummingbirdCore = product(name: "HummingbirdCore", package: "hummingbird")
    static let logging = product(name: "Logging", package: "swift-log")
    static let metrics = product(name: "Metrics", package: "swift-metrics")
    static let nioCore = product(name: "NIOCore", package: "swift-nio")
    static let nioEmbedded = product(name: "NIOEmbedded", package: "swift-nio")
    static let nioExtras = product(name: "NIOExtras", package: "swift-nio-extras")
    static let nioFoundationCompat = product(name: "NIOFoundationCompat", package: "swift-nio")
    static let nioHPACK = product(name: "NIOHPACK", package: "swift-nio-http2")
    static let nioHTTP1 = product(name: "NIOHTTP1", package: "swift-nio")
    static let nioHTTP2 = product(name: "NIOHTTP2", package: "swift-nio-http2")
    static let nioHTTPTypes = product(name: "NIOHTTPTypes", package: "swift-nio-extras")
    static let nioPosix = product(name: "NIOPosix", package: "swift-nio")
    static let nioTLS = product(name: "NIOTLS", package: "swift-nio")
    static let nioSSL = product(name: "NIOSSL", package: "swift-nio-ssl")
    static let serviceLifecycle = product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
    static let swiftASN1 = product(name: "SwiftASN1", package: "swift-asn1")
    static let unixSignals = product(name: "UnixSignals", package: "swift-service-lifecycle")
    static let x509 = product(name: "X509", package: "swift-certificates")
}

func module(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

/// Fuzz targets need the fuzzer's own main function, so they exist only for `scripts/fuzz`.
func fuzzTargets() -> [Target] {
    guard Context.environment["MARTLET_FUZZ"] != nil else { return [] }
    let targets: [(String, [Target.Dependency])] = [
        ("AudienceFuzz", ["PushSupport", "PushTypes", "PushWire", "PushStore"]),
        ("BinaryFrameFuzz", ["PushSupport", "PushTypes", "PushWire", .nioCore]),
        ("CourierFuzz", ["PushSupport", "PushTypes", "PushWire", .nioCore]),
        ("CronFuzz", ["PushSupport", "PushTypes", "PushWire", "PushProvider"]),
        ("FormFuzz", ["PushSupport", "PushTypes", "PushWire", "ProviderAPI"]),
        ("HTTP2Fuzz", ["PushSupport", "PushTypes", "PushWire", "PushSender", .nioCore, .nioHPACK]),
        ("PayloadFuzz", ["PushSupport", "PushTypes", "PushWire", "PushProvider", "PushStore"]),
        ("ProviderTokenFuzz", ["PushGateway", "PushSupport", "PushTypes", "PushWire", .crypto]),
        ("ProviderHTTP2Fuzz", ["PushGateway", "PushSupport", "PushTypes", "PushWire", .nioCore, .nioHPACK]),
        ("RegistrationFuzz", ["PushSupport", "PushTypes", "PushWire", "PushProvider", "PushStore", .nioCore]),
    ]
    let common = Target.target(name: "Fuzzing", dependencies: [.nioCore], path: "Fuzz/Fuzzing", swiftSettings: strict)
    return [common]
        + targets.map { name, dependencies in
            .executableTarget(
                name: name,
                dependencies: ["Fuzzing"] + dependencies,
                path: "Fuzz/\(name)",
                swiftSettings: strict,
                linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]
            )
        }
}

let package = Package(
    name: "martlet",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "martlet", targets: ["martlet"]),
        .library(name: "PushDevice", targets: ["PushDevice"]),
        .library(name: "PushSender", targets: ["PushSender", "PushTypes"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.24.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        module("PushTypes", [.nioCore]),
        module("PushSupport", ["PushTypes", .nioCore, .swiftASN1, .x509]),
        module("PushWire", ["PushSupport", "PushTypes", .crypto, .nioCore]),
        module(
            "PushSender",
            [
                "PushSupport", "PushTypes", "PushWire", .crypto, .logging, .metrics, .nioCore, .nioExtras, .nioHTTP1,
                .nioPosix, .nioSSL,
                .nioTLS,
                .serviceLifecycle, .swiftASN1, .x509,
            ]
        ),
        module(
            "PushHTTP",
            [
                "PushSupport", "PushTypes", "PushWire", .httpTypes, .hummingbird, .logging, .metrics, .nioCore,
                .nioHTTPTypes,
            ]
        ),
        module("PushStore", ["PushSupport", "PushTypes", "PushWire", .crypto, .grdb, .grdbSQLite]),
        module(
            "PushProvider",
            [
                "PushSupport", "PushTypes", "PushWire", "PushSender", "PushStore", .asyncHTTPClient, .crypto, .logging,
                .metrics, .nioCore,
                .nioHTTP1, .nioPosix, .serviceLifecycle,
            ]
        ),
        module(
            "ProviderAPI",
            [
                "PushHTTP", "PushSupport", "PushTypes", "PushWire", "PushProvider", "PushSender", "PushStore", .crypto,
                .httpTypes,
                .hummingbird, .hummingbirdCore, .logging, .metrics, .nioCore, .serviceLifecycle,
            ]
        ),
        module(
            "PushGateway",
            [
                "PushHTTP", "PushSupport", "PushTypes", "PushWire", .crypto, .cryptoExtras, .grdb, .httpTypes,
                .hummingbird, .hummingbirdCore,
                .logging, .nioCore, .nioPosix, .nioSSL, .nioTLS, .serviceLifecycle, .swiftASN1, .x509,
            ]
        ),
        module(
            "PushDevice",
            [
                "PushSupport", "PushTypes", "PushWire", .asyncHTTPClient, .crypto, .logging, .nioCore, .nioHTTP1,
                .nioPosix, .nioSSL,
                .serviceLifecycle, .swiftASN1, .x509,
            ]
        ),
        // Only this is compiled anew for a commit; the Makefile hands the commit over.
        .target(
            name: "BuildInformation",
            cSettings: Context.environment["MARTLET_COMMIT"].map { [.define("MARTLET_COMMIT", to: "\"\($0)\"")] }
        ),
        .executableTarget(
            name: "martlet",
            dependencies: [
                "BuildInformation", "PushDevice", "PushGateway", "PushHTTP", "PushSupport", "PushTypes", "PushWire",
                "PushProvider",
                "PushSender", "ProviderAPI",
                "PushStore", .argumentParser, .asyncHTTPClient, .configuration, .crypto, .logging, .metrics, .nioCore,
                .nioHTTP1, .serviceLifecycle, .unixSignals,
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "SenderBenchmark",
            dependencies: ["PushSupport", "PushTypes", "PushWire", "PushSender", .argumentParser, .logging, .nioCore],
            path: "Benchmarks/SenderBenchmark",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "GatewayBenchmark",
            dependencies: [
                "PushDevice", "PushSupport", "PushTypes", "PushWire", "PushSender", .argumentParser, .asyncHTTPClient,
                .crypto, .logging,
                .nioCore,
                .nioHTTP1, .nioPosix, .nioSSL, .swiftASN1, .x509,
            ],
            path: "Benchmarks/GatewayBenchmark",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "CampaignBenchmark",
            dependencies: [
                "PushSupport", "PushTypes", "PushWire", "PushProvider", "PushSender", "ProviderAPI", "PushStore",
                .argumentParser,
                .asyncHTTPClient, .grdb, .logging, .nioCore, .nioFoundationCompat, .nioHTTP1,
            ],
            path: "Benchmarks/CampaignBenchmark",
            swiftSettings: strict
        ),
        .target(
            name: "PushTesting",
            dependencies: [
                "PushDevice", "PushGateway", "PushSupport", "PushTypes", "PushWire", "PushProvider", "PushSender",
                "ProviderAPI", "PushStore",
                .asyncHTTPClient, .crypto, .logging, .nioCore, .nioSSL, .serviceLifecycle, .swiftASN1, .x509,
            ],
            path: "Tests/PushTesting",
            swiftSettings: strict
        ),
        tests("PushTypesTests", ["PushSupport", "PushTesting", "PushTypes", "PushWire"]),
        tests("PushSupportTests", ["PushSupport", "PushTesting", "PushTypes"]),
        tests("PushWireTests", ["PushSupport", "PushTesting", "PushTypes", "PushWire", .nioCore]),
        tests(
            "PushSenderTests",
            [
                "PushSupport", "PushTypes", "PushWire", "PushSender", "PushTesting", .crypto, .logging, .nioCore,
                .nioHPACK, .nioPosix, .nioSSL,
                .nioTLS, .swiftASN1, .x509,
            ],
            exclude: ["Fixtures"]
        ),
        tests("PushStoreTests", ["PushSupport", "PushTypes", "PushWire", "PushStore", "PushTesting", .grdb]),
        tests(
            "PushProviderTests",
            [
                "PushSupport", "PushTypes", "PushWire", "PushProvider", "PushSender", "PushStore", "PushTesting", .grdb,
                .logging, .nioCore,
                .nioHTTP1, .nioPosix,
            ]
        ),
        tests(
            "PushHTTPTests",
            [
                "ProviderAPI", "PushHTTP", "PushSupport", "PushTesting", "PushTypes", .httpTypes, .hummingbird,
                .logging,
                .nioCore, .nioEmbedded, .nioHTTPTypes, .nioPosix,
            ]
        ),
        tests(
            "ProviderAPITests",
            [
                "PushHTTP", "PushSupport", "PushTypes", "PushWire", "PushProvider", "PushSender", "ProviderAPI",
                "PushStore", "PushTesting",
                .grdb, .httpTypes, .hummingbird, .nioCore, .nioEmbedded, .nioHTTPTypes, .nioPosix,
            ]
        ),
        tests(
            "PushGatewayTests",
            [
                "PushGateway", "PushHTTP", "PushSupport", "PushTypes", "PushWire", "PushSender", "PushTesting", .crypto,
                .cryptoExtras, .grdb,
                .hummingbird, .logging,
                .nioCore, .nioEmbedded, .nioHPACK, .nioHTTP2, .nioPosix, .nioSSL, .nioTLS, .swiftASN1, .x509,
            ]
        ),
        tests(
            "PushDeviceTests",
            [
                "PushDevice", "PushGateway", "PushSupport", "PushTypes", "PushWire", "PushTesting", .logging, .nioCore,
                .nioPosix, .nioSSL, .x509,
            ]
        ),
        tests(
            "EndToEndTests",
            [
                "PushDevice", "PushGateway", "PushSupport", "PushTypes", "PushWire", "PushProvider", "PushSender",
                "ProviderAPI", "PushStore",
                "PushTesting", "martlet", .argumentParser, .asyncHTTPClient, .configuration, .crypto, .logging,
                .nioCore, .nioHTTP1,
                .nioPosix,
                .nioSSL,
            ]
        ),
    ] + fuzzTargets(),
    swiftLanguageModes: [.v6]
)
