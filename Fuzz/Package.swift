// swift-tools-version:6.2
import Foundation
import PackageDescription

/// The name under which Martlet's modules see each other's `package` declarations: its folder's, as the package manager
/// spells it. The targets here are compiled under it too (docs/decisions/0020-packages-of-their-own.md).
let packageName = URL(filePath: Context.packageDirectory).deletingLastPathComponent().lastPathComponent.lowercased()
    .replacing(/\W|^\d/, with: "_")

let features = [
    "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "NonisolatedNonsendingByDefault",
]
let settings: [SwiftSetting] =
    features.map { .enableUpcomingFeature($0) }
    + [.treatAllWarnings(as: .error), .unsafeFlags(["-package-name", packageName])]

extension Target.Dependency {
    static let crypto = product(name: "Crypto", package: "swift-crypto")
    static let gateway = product(name: "_MartletGateway", package: "martlet")
    static let kit = product(name: "MartletKit", package: "martlet")
    static let nioCore = product(name: "NIOCore", package: "swift-nio")
    static let nioHPACK = product(name: "NIOHPACK", package: "swift-nio-http2")
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
        swiftSettings: settings + [.unsafeFlags(["-sanitize=fuzzer"])],
        linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]
    )
}

/// A package that Martlet uses too, whose manifest decides about the version.
func shared(_ repository: String) -> Package.Dependency {
    .package(url: "https://github.com/\(repository)", "0.0.0"..<"999.0.0")
}

let package = Package(
    name: "martlet-fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "martlet", path: ".."), shared("apple/swift-crypto"), shared("apple/swift-nio"),
        shared("apple/swift-nio-http2"),
    ],
    targets: [
        .target(
            name: "Fuzzing",
            dependencies: [.nioCore, .nioHPACK],
            path: "Fuzzing",
            packageAccess: false,
            swiftSettings: settings
        ),
        fuzz("AttachmentFuzz", [.kit]),
        fuzz("AudienceFuzz", [.provider]),
        fuzz("BinaryFrameFuzz", [.sender, .nioCore]),
        fuzz("ChatSessionFuzz", [.provider, .nioCore]),
        fuzz("CronFuzz", [.provider]),
        fuzz("DeviceLinkFuzz", [.sender, .nioCore]),
        fuzz("EntitlementFuzz", [.provider]),
        fuzz("FCMFuzz", [.provider]),
        fuzz("FormFuzz", [.provider]),
        fuzz("GorushFuzz", [.provider]),
        fuzz("HTTP2Fuzz", [.sender, .nioCore, .nioHPACK]),
        fuzz("MatrixFuzz", [.provider]),
        fuzz("PayloadFuzz", [.provider]),
        fuzz("ProviderHTTP2Fuzz", [.gateway, .nioCore, .nioHPACK]),
        fuzz("ProviderTokenFuzz", [.gateway, .crypto]),
        fuzz("ReceiptsFuzz", [.provider]),
        fuzz("RegistrationFuzz", [.provider, .nioCore]),
        fuzz("RouterFuzz", [.kit]),
        fuzz("XMLFuzz", [.provider]),
        fuzz("WebPushFuzz", [.kit, .sender]),
    ],
    swiftLanguageModes: [.v6]
)
