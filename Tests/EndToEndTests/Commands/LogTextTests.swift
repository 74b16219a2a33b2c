import ArgumentParser
import Foundation
import Logging
import PushSender
import PushTypes
import Testing

@testable import martlet

/// Lines of the log, and the authorities that push services are trusted by.
@Suite struct LogTextTests {
    @Test func textFromOutsideAddsNoLine() {
        let line = LogLine(
            time: "T",
            level: .error,
            label: "provider",
            metadata: [
                "path": "/v1/x\n2026-01-01 info provider: all is well",
                "user": "a\r\u{1B}[2Jb\u{85}c\u{2028}d\u{202E}e\t",
            ],
            message: "first\nsecond"
        ).text
        let expected =
            #"T error provider: path=/v1/x\n2026-01-01 info provider: all is well "#
            + #"user=a\r\u{1B}[2Jb\u{85}c\u{2028}d\u{202E}e\t first\nsecond"#
        #expect(line == expected)
        let plain = LogLine(time: "T", level: .info, label: "p", metadata: [:], message: "Grüße 🐦 日本")
        #expect(plain.text == "T info p: Grüße 🐦 日本")
        #expect(plain.json == #"{"label":"p","level":"info","message":"Grüße 🐦 日本","time":"T"}"#)
    }

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
