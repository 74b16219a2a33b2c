import ArgumentParser
import Foundation
import PushSender
import PushTesting
import PushTypes
import Testing

@testable import martlet

@Suite struct PushServicesTests {
    @Test func theAuthorityCountsForNamedServicesOnly() async throws {
        let pem = try SelfSignedCertificate.shared.get().pem
        try await self.withAuthority(pem) { path in
            let named = try PushServices(
                try await Self.settings(["--service-authority", path, "--sandbox-service", "localhost:2197"])
            )
            #expect(named.endpoints[.sandbox]?.additionalTrustRoots == pem)
            #expect(named.endpoints[.production]?.additionalTrustRoots == nil, "that is Apple's")
            #expect(named.warning == nil)
            let useless = try PushServices(try await Self.settings(["--service-authority", path]))
            #expect(useless.endpoints.values.allSatisfy { $0.additionalTrustRoots == nil })
            #expect(useless.warning?.contains("serve.serviceAuthority has no effect") == true)
            #expect(try PushServices(try await Self.settings([])).warning == nil)
        }
    }

    @Test(arguments: ["", "PEM", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
    func anAuthorityWithoutACertificateIsNamed(text: String) async throws {
        try await self.withAuthority(text) { path in
            let settings = try await Self.settings(["--service-authority", path, "--sandbox-service", "localhost:2197"])
            let error = #expect(throws: SettingsError.self) { try PushServices(settings) }
            #expect(
                error?.description == "serve.serviceAuthority: \(path) has no certificate in PEM (BEGIN CERTIFICATE)"
            )
        }
    }

    @Test(arguments: ["localhost", "", ":2197", "localhost:0", "localhost:99999", "localhost:x"])
    func anAddressWithoutAPortIsNamed(address: String) async throws {
        let settings = try await Self.settings(["--production-service", address])
        let error = #expect(throws: SettingsError.self) { try PushServices(settings) }
        #expect(error?.description == "serve.productionService: '\(address)' is not HOST:PORT")
        #expect(error?.status == .usage)
    }

    @Test func theFirstLineSaysLoudlyWherePushesGo() async throws {
        func line(_ words: [String]) async throws -> String {
            let log = RecordedLog()
            try PushServices(try await Self.settings(words)).log(to: log.logger)
            return try #require(log.lines.first)
        }
        let apple = "production=Apple, api.push.apple.com:443 sandbox=Apple, api.sandbox.push.apple.com:443"
        #expect(try await line([]) == "pushes go to APPLE: no setting names a push service \(apple)")
        let sandbox = ["--sandbox-service", "[::1]:2197"]
        let mixed = try await line(sandbox)
        #expect(mixed.hasPrefix("pushes of one environment go to APPLE: no setting names its push service"))
        #expect(mixed.contains("apple=production") && mixed.contains("sandbox=[::1]:2197"))
        let chosen = try await line(sandbox + ["--production-service", "apple"])
        #expect(
            chosen.hasPrefix("pushes go to the push services of the settings production=Apple, api.push.apple.com:443")
        )
        #expect(try await line(["--sandbox-service", "apple", "--production-service", "apple"]).hasSuffix(apple))
    }

    private static func settings(_ words: [String]) async throws -> SettingsReader {
        try await SettingsReader(
            flags: try SettingFlags<ServeSettings.General>.parse(words).values,
            environment: [:]
        )
    }

    private func withAuthority(_ pem: String, _ body: (String) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/authority.pem"
            try pem.write(toFile: path, atomically: true, encoding: .utf8)
            try await body(path)
        }
    }
}
