import Foundation
import Logging
import PushSender
import PushTypes
import Testing

@testable import martlet

/// Lines of the log, and whom a push service is trusted by.
@Suite struct LogTextTests {
    @Test func whatComesFromElsewhereWritesNoLineOfItsOwn() {
        let line = TextLogLine.make(
            "T",
            .error,
            "provider",
            [
                "path": "/v1/x\n2026-01-01 info provider: all is well",
                "user": "a\r\u{1B}[2Jb\u{85}c\u{2028}d\u{202E}e\t",
            ],
            "first\nsecond"
        )
        let expected =
            #"T error provider: path=/v1/x\n2026-01-01 info provider: all is well "#
            + #"user=a\r\u{1B}[2Jb\u{85}c\u{2028}d\u{202E}e\t first\nsecond"#
        #expect(line == expected)
        #expect(TextLogLine.make("T", .info, "p", [:], "Grüße 🐦 日本") == "T info p: Grüße 🐦 日本")
    }

    @Test func theAuthorityCountsForNamedServicesOnly() async throws {
        try await self.withAuthority { path in
            let named = try PushServices(
                try await Self.settings([
                    "serve.serviceAuthority": path, "serve.sandboxService": "localhost:2197",
                ])
            )
            #expect(named.endpoints[.sandbox]?.additionalTrustRoots == "PEM")
            #expect(named.endpoints[.production]?.additionalTrustRoots == nil, "that is Apple's")
            #expect(named.warning == nil)
            let useless = try PushServices(try await Self.settings(["serve.serviceAuthority": path]))
            #expect(useless.endpoints.values.allSatisfy { $0.additionalTrustRoots == nil })
            #expect(useless.warning?.contains("serve.serviceAuthority has no effect") == true)
            #expect(try PushServices(try await Self.settings([:])).warning == nil)
        }
    }

    private static func settings(_ values: [String: String]) async throws -> Settings {
        try await Settings(flags: values.mapValues { Optional($0).setting() }, file: nil)
    }

    private func withAuthority(_ body: (String) async throws -> Void) async throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "authority-\(UUID().uuidString).pem")
        try Data("PEM".utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        try await body(url.path)
    }
}
