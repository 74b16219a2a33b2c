// swift-tools-version:6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// A library product of another package, which is resolved with a trait only: `Networking` where `PushSender` needs it, `Device`
/// where `PushDevice` does, and else `Server`.
func library(_ name: String, _ package: String, trait: String = "Networking") -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait]))
}

extension Target.Dependency {
    static let argumentParser = library("ArgumentParser", "swift-argument-parser", trait: "Server")
    static let asyncHTTPClient = library("AsyncHTTPClient", "async-http-client", trait: "Device")
    static let configuration = library("Configuration", "swift-configuration", trait: "Server")
    static let crypto = library("Crypto", "swift-crypto")
    static let cryptoForEncryption = library("Crypto", "swift-crypto", trait: "Encryption")
    static let cryptoExtras = library("CryptoExtras", "swift-crypto")
    static let grdb = library("GRDB", "GRDB.swift", trait: "Server")
    static let grdbSQLite = library("GRDBSQLite", "GRDB.swift", trait: "Server")
    static let httpTypes = library("HTTPTypes", "swift-http-types", trait: "Server")
    static let hummingbird = library("Hummingbird", "hummingbird", trait: "Server")
    static let hummingbirdCore = library("HummingbirdCore", "hummingbird", trait: "Server")
    static let hummingbirdHTTP2 = library("HummingbirdHTTP2", "hummingbird", trait: "Server")
    static let logging = library("Logging", "swift-log")
    static let metrics = library("Metrics", "swift-metrics")
    static let mustache = library("Mustache", "swift-mustache", trait: "Server")
    static let nioCore = library("NIOCore", "swift-nio")
    static let nioEmbedded = library("NIOEmbedded", "swift-nio")
    static let nioHPACK = library("NIOHPACK", "swift-nio-http2", trait: "Server")
    static let nioHTTP1 = library("NIOHTTP1", "swift-nio")
    static let nioHTTP2 = library("NIOHTTP2", "swift-nio-http2", trait: "Server")
    static let nioHTTPTypes = library("NIOHTTPTypes", "swift-nio-extras", trait: "Server")
    static let nioPosix = library("NIOPosix", "swift-nio")
    static let nioSSL = library("NIOSSL", "swift-nio-ssl")
    static let nioTLS = library("NIOTLS", "swift-nio")
    static let serviceLifecycle = library("ServiceLifecycle", "swift-service-lifecycle")
    static let swiftASN1 = library("SwiftASN1", "swift-asn1")
    static let unixSignals = library("UnixSignals", "swift-service-lifecycle")
    static let x509 = library("X509", "swift-certificates")
}

func module(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// A module whose templates, texts and assets are a part of the program: `PageResources` embeds them.
func pages(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, exclude: ["Resources"], swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

let package = Package(
    name: "martlet",
    platforms: [.iOS(.v17), .macOS(.v15), .visionOS(.v1), .watchOS(.v10)],
    products: [
        .executable(name: "martlet", targets: ["martlet"]),
        .library(name: "MartletKit", targets: ["MartletKit"]),
        .library(name: "PushDevice", targets: ["PushDevice", "PushTypes"]),
        .library(name: "PushSender", targets: ["PushSender", "PushTypes"]),
        // For the packages in Benchmarks and Fuzz, which use `package` declarations; nothing here is promised.
        .library(
            name: "_MartletProvider",
            targets: ["ProviderAPI", "ProviderModel", "PushBridges", "PushProvider", "PushStore"]
        ),
        .library(name: "_MartletGateway", targets: ["PushGateway"]),
        .library(name: "_MartletReader", targets: ["AppSimulator", "PushTypes"]),
    ],
    traits: [
        .trait(name: "Networking", description: "PushSender: swift-nio, swift-nio-ssl and what they need"),
        .trait(
            name: "Device",
            description: "PushDevice: what PushSender needs, and AsyncHTTPClient",
            enabledTraits: ["Networking"]
        ),
        .trait(name: "Encryption", description: "End-to-end encrypted content in MartletKit: swift-crypto"),
        .trait(
            name: "Server",
            description: "Provider, gateway and command: Hummingbird, GRDB and ArgumentParser",
            enabledTraits: ["Device", "Encryption", "Networking"]
        ),
        .trait(
            name: "PostgreSQL",
            description: "PushStore's engine for PostgreSQL: the system's libpq",
            enabledTraits: ["Server"]
        ),
        .default(enabledTraits: ["Server"]),
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
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // What both ends of a push share.
        module("PushTypes", [.nioCore]),
        // Only this is compiled anew for another version or commit; the Makefile hands the commit over.
        .target(
            name: "BuildInformation",
            cSettings: ["MARTLET_COMMIT", "MARTLET_VERSION"].compactMap { name in
                Context.environment[name].map { .define(name, to: "\"\($0)\"") }
            }
        ),
        module("PushSupport", ["BuildInformation", "PushTypes", .nioCore, .nioPosix, .swiftASN1, .x509]),
        module("PushWire", ["PushSupport", "PushTypes", .crypto, .nioCore]),

        // The libraries.
        module(
            "PushSender",
            [
                "PushSupport", "PushTypes", "PushWire", .crypto, .cryptoExtras, .logging, .metrics, .nioCore, .nioPosix,
                .nioSSL, .nioTLS, .serviceLifecycle, .swiftASN1, .x509,
            ]
        ),
        module(
            "PushDevice",
            [
                "PushSupport", "PushTypes", "PushWire", .asyncHTTPClient, .crypto, .logging, .nioCore, .nioHTTP1,
                .nioPosix, .nioSSL, .serviceLifecycle, .swiftASN1, .x509,
            ]
        ),

        // What an app embeds: nothing of ours, and no package without the trait Encryption.
        module("MartletKit", [.cryptoForEncryption]),
        // An app made of MartletKit and PushDevice.
        module(
            "AppSimulator",
            [
                "MartletKit", "PushDevice", "PushSupport", "PushTypes", .asyncHTTPClient, .crypto, .logging, .nioCore,
                .nioHTTP1, .serviceLifecycle,
            ]
        ),

        // The servers.
        module(
            "PushHTTP",
            [
                "PushSupport", "PushTypes", "PushWire", .httpTypes, .hummingbird, .hummingbirdCore, .hummingbirdHTTP2,
                .logging, .metrics, .nioCore, .nioHTTP1, .nioHTTP2, .nioHTTPTypes, .nioPosix, .nioSSL, .nioTLS,
                .serviceLifecycle,
            ]
        ),
        // The nouns of a provider: records, values, and the grammar of requests. Values only.
        module("ProviderModel", ["PushSupport", "PushTypes", "PushWire", .crypto]),
        .systemLibrary(
            name: "CLibPQ",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
        ),
        module(
            "PushStore",
            [
                "ProviderModel", "PushSupport", "PushTypes", "PushWire", .crypto, .grdb, .grdbSQLite,
                .target(name: "CLibPQ", condition: .when(traits: ["PostgreSQL"])),
            ]
        ),
        module(
            "PushProvider",
            [
                "ProviderModel", "PushSender", "PushStore", "PushSupport", "PushTypes", "PushWire", .asyncHTTPClient,
                .crypto,
                .cryptoExtras, .logging, .metrics, .nioCore, .nioHTTP1, .nioPosix, .nioSSL, .serviceLifecycle,
                .swiftASN1, .x509,
            ]
        ),
        module(
            "ProviderAPI",
            [
                "ProviderModel", "PushHTTP", "PushProvider", "PushSender", "PushStore", "PushSupport", "PushTypes",
                "PushWire", .crypto,
                .httpTypes,
                .hummingbird, .hummingbirdCore, .logging, .metrics, .nioCore, .serviceLifecycle,
            ]
        ),
        // Other systems' protocols, translated into notifications.
        module(
            "PushBridges",
            [
                "ProviderAPI", "ProviderModel", "PushHTTP", "PushProvider", "PushStore", "PushSupport", "PushTypes",
                "PushWire",
                .crypto, .cryptoExtras, .httpTypes, .hummingbird, .hummingbirdCore, .logging, .metrics, .nioCore,
                .nioHTTP1, .nioPosix, .nioSSL, .nioTLS, .serviceLifecycle,
            ]
        ),
        // What the pages of the servers share, and the provider's pages.
        .target(name: "PageResources"),
        pages(
            "WebPages",
            ["PageResources", "PushSupport", "PushTypes", .crypto, .httpTypes, .hummingbird, .mustache, .nioCore]
        ),
        pages(
            "Dashboard",
            [
                "PageResources", "ProviderAPI", "ProviderModel", "PushHTTP", "PushProvider", "PushStore", "PushSupport",
                "PushTypes",
                "WebPages", .crypto, .httpTypes, .hummingbird, .hummingbirdCore, .logging, .nioCore, .serviceLifecycle,
            ]
        ),
        module(
            "PushGateway",
            [
                "PushHTTP", "PushSupport", "PushTypes", "PushWire", .crypto, .cryptoExtras, .grdb, .httpTypes,
                .hummingbird, .hummingbirdCore, .logging, .nioCore, .nioPosix, .nioSSL, .nioTLS, .serviceLifecycle,
                .swiftASN1, .x509,
            ]
        ),
        .executableTarget(
            name: "martlet",
            dependencies: [
                "AppSimulator", "Dashboard", "MartletKit", "ProviderAPI", "ProviderModel", "PushBridges", "PushDevice",
                "PushGateway",
                "PushHTTP",
                "PushProvider", "PushSender", "PushStore",
                "PushSupport", "PushTypes", "PushWire", .argumentParser, .asyncHTTPClient, .configuration, .crypto,
                .logging, .metrics, .nioCore, .nioHTTP1, .nioSSL, .serviceLifecycle, .unixSignals,
            ],
            swiftSettings: strict
        ),

        // Tests.
        .target(
            name: "PushTesting",
            dependencies: [
                "ProviderAPI", "ProviderModel", "PushDevice", "PushGateway", "PushHTTP", "PushProvider", "PushSender",
                "PushStore",
                "PushSupport", "PushTypes", "PushWire", .asyncHTTPClient, .crypto, .logging, .nioCore, .nioHTTP1,
                .nioPosix, .nioSSL, .serviceLifecycle, .swiftASN1, .x509,
            ],
            path: "Tests/PushTesting",
            swiftSettings: strict
        ),
        tests("PushTypesTests", ["PushTesting", "PushTypes", "PushWire"]),
        tests("PushSupportTests", ["PushSupport", "PushTesting", "PushTypes", .nioCore]),
        tests(
            "PushWireTests",
            ["PushSupport", "PushTesting", "PushTypes", "PushWire", .crypto, .nioCore, .nioHPACK]
        ),
        tests(
            "PushSenderTests",
            [
                "PushSender", "PushSupport", "PushTesting", "PushTypes", "PushWire", .crypto, .logging, .nioCore,
                .nioHPACK, .nioPosix, .nioSSL, .nioTLS, .swiftASN1, .x509,
            ],
            exclude: ["Fixtures"]
        ),
        tests(
            "PushDeviceTests",
            [
                "PushDevice", "PushGateway", "PushSupport", "PushTesting", "PushTypes", "PushWire", .logging, .nioCore,
                .nioEmbedded, .nioPosix, .nioSSL, .swiftASN1, .x509,
            ]
        ),
        tests(
            "PushHTTPTests",
            [
                "ProviderAPI", "ProviderModel", "PushHTTP", "PushProvider", "PushStore", "PushSupport", "PushTesting",
                "PushTypes",
                "PushWire", .asyncHTTPClient, .grdb, .httpTypes, .hummingbird, .hummingbirdCore, .logging, .metrics,
                .nioCore, .nioEmbedded, .nioHTTP1, .nioHTTP2, .nioHTTPTypes, .nioPosix, .nioSSL,
            ]
        ),
        tests("WebPagesTests", ["PushSupport", "PushTypes", "WebPages"]),
        tests(
            "DashboardTests",
            [
                "Dashboard", "PageResources", "ProviderAPI", "PushHTTP", "PushProvider", "PushSender", "PushSupport",
                "PushTesting", "PushTypes", "WebPages", .asyncHTTPClient, .crypto, .httpTypes, .hummingbird, .logging,
                .nioCore, .nioHTTP1,
            ]
        ),
        tests(
            "PushBridgesTests",
            [
                "ProviderAPI", "ProviderModel", "PushBridges", "PushHTTP", "PushProvider", "PushSender", "PushStore",
                "PushSupport",
                "PushTesting", "PushTypes", "PushWire", .asyncHTTPClient, .crypto, .httpTypes, .hummingbird, .logging,
                .metrics, .nioCore, .nioEmbedded, .nioHTTP1, .nioPosix, .nioSSL, .nioTLS, .serviceLifecycle,
            ]
        ),
        tests("MartletKitTests", ["MartletKit", "PushTesting", .crypto]),
        tests(
            "AppSimulatorTests",
            ["AppSimulator", "MartletKit", "PushSupport", "PushTesting", "PushTypes", .crypto]
        ),
        tests("ProviderModelTests", ["ProviderModel", "PushSupport", "PushTesting", "PushTypes", "PushWire"]),
        tests(
            "PushStoreTests",
            ["ProviderModel", "PushStore", "PushSupport", "PushTesting", "PushTypes", "PushWire", .grdb]
        ),
        tests(
            "PushProviderTests",
            [
                "MartletKit", "ProviderModel", "PushHTTP", "PushProvider", "PushSender", "PushStore", "PushSupport",
                "PushTesting",
                "PushTypes", "PushWire",
                .crypto, .grdb,
                .logging, .metrics, .nioCore, .nioHTTP1, .nioPosix,
            ]
        ),
        tests(
            "ProviderAPITests",
            [
                "ProviderAPI", "ProviderModel", "PushHTTP", "PushProvider", "PushSender", "PushStore", "PushSupport",
                "PushTesting",
                "PushTypes", "PushWire", .crypto, .grdb, .httpTypes, .hummingbird, .logging, .nioCore, .nioEmbedded,
                .nioHTTP1,
            ]
        ),
        tests(
            "PushGatewayTests",
            [
                "PushGateway", "PushHTTP", "PushSender", "PushSupport", "PushTesting", "PushTypes", "PushWire", .crypto,
                .cryptoExtras, .grdb, .hummingbird, .logging, .nioCore, .nioEmbedded, .nioHPACK, .nioPosix, .nioSSL,
                .nioTLS, .swiftASN1, .x509,
            ]
        ),
        tests(
            "MartletTests",
            [
                "AppSimulator", "ProviderAPI", "ProviderModel", "PushDevice", "PushGateway", "PushProvider",
                "PushSender", "PushStore",
                "PushSupport", "PushTesting", "PushTypes", "martlet", .argumentParser, .asyncHTTPClient, .configuration,
                .logging, .nioCore, .serviceLifecycle,
            ]
        ),
        tests(
            "EndToEndTests",
            [
                "AppSimulator", "MartletKit", "ProviderAPI", "ProviderModel", "PushBridges", "PushDevice",
                "PushGateway", "PushHTTP",
                "PushProvider", "PushSender", "PushStore", "PushSupport", "PushTesting", "PushTypes", .asyncHTTPClient,
                .crypto, .logging, .nioCore, .nioHTTP1, .nioSSL,
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
