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
    static let crypto = product(name: "Crypto", package: "swift-crypto")
    static let nioCore = product(name: "NIOCore", package: "swift-nio")
    static let nioHPACK = product(name: "NIOHPACK", package: "swift-nio-http2")
    static let gateway = product(name: "_MartletGateway", package: "martlet")
    static let provider = product(name: "_MartletProvider", package: "martlet")
    static let sender = product(name: "PushSender", package: "martlet")
}

/// A fuzz target. The fuzzer brings a main function of its own, so `Fuzzing` calls its driver instead.
func fuzz(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["Fuzzing"] + dependencies,
        path: name,
        // Else the package manager names this package after `settings` did.
        packageAccess: false,
        swiftSettings: settings,
        linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]
    )
}

// The versions are those that Martlet's manifest asks for.
let package = Package(
    name: "martlet-fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "martlet", path: ".."),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    ],
    targets: [
        .target(
            name: "Fuzzing",
            dependencies: [.nioCore],
            path: "Fuzzing",
            packageAccess: false,
            swiftSettings: settings
        ),
        fuzz("AudienceFuzz", [.provider]),
        fuzz("BinaryFrameFuzz", [.sender, .nioCore]),
        fuzz("DeviceLinkFuzz", [.sender, .nioCore]),
        fuzz("CronFuzz", [.provider]),
        fuzz("FormFuzz", [.provider]),
        fuzz("HTTP2Fuzz", [.sender, .nioCore, .nioHPACK]),
        fuzz("PayloadFuzz", [.provider]),
        fuzz("ProviderHTTP2Fuzz", [.gateway, .nioCore, .nioHPACK]),
        fuzz("ProviderTokenFuzz", [.gateway, .crypto]),
        fuzz("RegistrationFuzz", [.provider, .nioCore]),
    ],
    swiftLanguageModes: [.v6]
)
