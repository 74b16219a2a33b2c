// swift-tools-version:6.2
import PackageDescription

// A user of PushSender needs the trait Networking only, one of PushDevice the trait Device, and so neither Hummingbird nor GRDB nor
// ArgumentParser; an app needs Encryption, or no trait at all. `make check` compiles the examples with all traits, because it uses what Martlet's own build has compiled.
let sharesBuild = Context.environment["MARTLET_SHARED_BUILD"] != nil
let traits: Set<Package.Dependency.Trait> = sharesBuild ? [.defaults] : ["Device", "Encryption"]

let package = Package(
    name: "martlet-examples",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "martlet", path: "..", traits: traits),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .executableTarget(name: "SendOne", dependencies: [.pushSender, .logging]),
        .executableTarget(name: "SendMany", dependencies: [.pushSender, .logging]),
        .executableTarget(name: "RunAsService", dependencies: [.pushSender, .logging, .serviceLifecycle]),
        .executableTarget(name: "SendBroadcast", dependencies: [.pushSender, .logging]),
        .executableTarget(name: "SendLegacy", dependencies: [.pushSender, .logging]),
        .executableTarget(name: "ReceivePushes", dependencies: [.pushDevice, .logging]),
        .target(name: "AppGlue", dependencies: [.martletKit]),
        .executableTarget(name: "RegisterApp", dependencies: [.martletKit]),
        .testTarget(name: "PushServiceTests", dependencies: [.pushDevice, .pushSender, .logging]),
    ],
    swiftLanguageModes: [.v6]
)

extension Target.Dependency {
    static var logging: Self { .product(name: "Logging", package: "swift-log") }
    static var martletKit: Self { .product(name: "MartletKit", package: "martlet") }
    static var pushDevice: Self { .product(name: "PushDevice", package: "martlet") }
    static var pushSender: Self { .product(name: "PushSender", package: "martlet") }
    static var serviceLifecycle: Self { .product(name: "ServiceLifecycle", package: "swift-service-lifecycle") }
}
