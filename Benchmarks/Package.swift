// swift-tools-version:6.2
import Foundation
import PackageDescription

/// The name under which Martlet's modules see each other's `package` declarations: its folder's, as the package manager
/// spells it. The targets here are compiled under it too (docs/decisions/0020-packages-of-their-own.md).
let packageName: String = {
    let folder = URL(filePath: Context.packageDirectory).deletingLastPathComponent().lastPathComponent.lowercased()
    let name = String(folder.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    return name.first?.isNumber == true ? "_" + name.dropFirst() : name
}()

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
    .unsafeFlags(["-package-name", packageName]),
]

extension Target.Dependency {
    static let pushDevice = product(name: "PushDevice", package: "martlet")
    static let pushSender = product(name: "PushSender", package: "martlet")
    static let provider = product(name: "_MartletProvider", package: "martlet")
    static let argumentParser = product(name: "ArgumentParser", package: "swift-argument-parser")
    static let asyncHTTPClient = product(name: "AsyncHTTPClient", package: "async-http-client")
    static let crypto = product(name: "Crypto", package: "swift-crypto")
    static let grdb = product(name: "GRDB", package: "GRDB.swift")
    static let logging = product(name: "Logging", package: "swift-log")
    static let nioCore = product(name: "NIOCore", package: "swift-nio")
    static let nioFoundationCompat = product(name: "NIOFoundationCompat", package: "swift-nio")
    static let nioHTTP1 = product(name: "NIOHTTP1", package: "swift-nio")
    static let nioPosix = product(name: "NIOPosix", package: "swift-nio")
    static let nioSSL = product(name: "NIOSSL", package: "swift-nio-ssl")
    static let swiftASN1 = product(name: "SwiftASN1", package: "swift-asn1")
    static let x509 = product(name: "X509", package: "swift-certificates")
}

func benchmark(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name,
        dependencies: dependencies,
        path: name,
        // Else the package manager names this package after `settings` did.
        packageAccess: false,
        swiftSettings: settings
    )
}

// The versions are those that Martlet's manifest asks for.
let package = Package(
    name: "martlet-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "martlet", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        .target(name: "Benchmarking", path: "Benchmarking", packageAccess: false, swiftSettings: settings),
        benchmark("SenderBenchmark", [.pushSender, .argumentParser, .logging, .nioCore]),
        benchmark(
            "GatewayBenchmark",
            [
                "Benchmarking", .pushDevice, .pushSender, .argumentParser, .asyncHTTPClient, .crypto, .logging,
                .nioCore,
                .nioHTTP1, .nioPosix, .nioSSL, .swiftASN1, .x509,
            ]
        ),
        benchmark(
            "CampaignBenchmark",
            [
                "Benchmarking", .provider, .pushSender, .argumentParser, .asyncHTTPClient, .grdb, .logging, .nioCore,
                .nioFoundationCompat, .nioHTTP1,
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
