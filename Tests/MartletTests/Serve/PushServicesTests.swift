import ArgumentParser
import Foundation
import PushSender
import PushTypes
import Testing

@testable import martlet

@Suite struct PushServicesTests {
    @Test func theAuthorityCountsForNamedServicesOnly() async throws {
        try await self.withAuthority { path in
            let named = try PushServices(
                try await Self.settings(["--service-authority", path, "--sandbox-service", "localhost:2197"])
            )
            #expect(named.endpoints[.sandbox]?.additionalTrustRoots == "PEM")
            #expect(named.endpoints[.production]?.additionalTrustRoots == nil, "that is Apple's")
            #expect(named.warning == nil)
            let useless = try PushServices(try await Self.settings(["--service-authority", path]))
            #expect(useless.endpoints.values.allSatisfy { $0.additionalTrustRoots == nil })
            #expect(useless.warning?.contains("serve.serviceAuthority has no effect") == true)
            #expect(try PushServices(try await Self.settings([])).warning == nil)
        }
    }

    private static func settings(_ words: [String]) async throws -> SettingsReader {
        try await SettingsReader(flags: try SettingFlags<ServeSettings.General>.parse(words).values)
    }

    private func withAuthority(_ body: (String) async throws -> Void) async throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "authority-\(UUID().uuidString).pem")
        try Data("PEM".utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        try await body(url.path)
    }
}
