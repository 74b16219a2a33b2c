import Foundation
import Testing

@testable import MartletKit

@Suite("The environment of a provisioning profile") struct PushEnvironmentTests {
    /// Makes a profile: signed data around a property list.
    private static func profile(_ entitlements: String) -> Data {
        let list = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><dict><key>Name</key><string>Any</string>
            <key>Entitlements</key><dict>\(entitlements)</dict></dict></plist>
            """
        return Data([0x30, 0x82, 0x1F, 0x00, 0x06, 0x09]) + Data(list.utf8) + Data([0xA0, 0x82, 0x00, 0xFF])
    }

    @Test(
        "The entitlement says it",
        arguments: [
            ("<key>aps-environment</key><string>development</string>", PushEnvironment.sandbox),
            ("<key>aps-environment</key><string>production</string>", .production),
            ("<key>com.apple.developer.aps-environment</key><string>development</string>", .sandbox),
            ("<key>aps-environment</key><string>other</string>", nil), ("<key>aps-environment</key><true/>", nil),
            ("", nil),
        ]
    )
    func entitlement(text: String, environment: PushEnvironment?) throws {
        #expect(try #require(ProvisioningProfile(Self.profile(text))).environment == environment)
    }

    @Test("What is no profile is none, and never ends the app")
    func garbage() {
        let whole = Self.profile("<key>aps-environment</key><string>development</string>")
        #expect(ProvisioningProfile(Data()) == nil)
        #expect(ProvisioningProfile(Data(repeating: 0x30, count: 100)) == nil)
        #expect(ProvisioningProfile(Data(count: 2 << 20)) == nil)
        #expect(ProvisioningProfile(Data("</plist><?xml".utf8)) == nil)
        for length in 0..<(whole.count - 15) { #expect(ProvisioningProfile(whole.prefix(length)) == nil) }
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            var bytes = whole
            for _ in 0..<4 {
                bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            _ = ProvisioningProfile(bytes)
        }
    }

    @Test("A bundle without a profile is in production, one with a profile is where that says")
    func bundles() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kit.\(UUID().uuidString).app")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(
            at: folder.appending(path: "Contents"),
            withIntermediateDirectories: true
        )
        let bundle = try #require(Bundle(path: folder.path))
        #expect(PushEnvironment.detected(in: bundle) == .production)
        let text = "<key>com.apple.developer.aps-environment</key><string>development</string>"
        try Self.profile(text).write(to: folder.appending(path: "Contents/embedded.provisionprofile"))
        #expect(PushEnvironment.detected(in: bundle) == .sandbox)
        try Data("no profile".utf8).write(to: folder.appending(path: "Contents/embedded.provisionprofile"))
        #expect(PushEnvironment.detected(in: bundle) == nil)
    }
}
