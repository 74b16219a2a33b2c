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

    @Test(arguments: [
        "http://localhost:2197", "https://localhost:2197", "localhost", "user@localhost:1", "a b:1", ":1", "",
    ])
    func whatIsNoAddressOfAPushServiceIsRejected(address: String) async throws {
        let settings = try await Self.settings(["--sandbox-service", address])
        let text = await failure { _ = try PushServices(settings) }
        #expect(text?.contains("serve.sandboxService: '\(address)' is not HOST:PORT") == true, "\(text ?? "no error")")
    }

    @Test func theProxyHasItsPasswordFromTheURLOrAFile() async throws {
        let url = "http://anna:hunt%40er@proxy.example:8080"
        let proxy = try #require(try PushServices(try await Self.settings(["--proxy", url])).proxy)
        #expect(proxy == ProxyEndpoint(host: "proxy.example", port: 8080, user: "anna", password: "hunt@er"))
        let none = try PushServices(try await Self.settings([]))
        #expect(none.proxy == nil)
        let usual = try PushServices(try await Self.settings(["--proxy", "http://[::1]/"])).proxy
        #expect(usual == ProxyEndpoint(host: "::1", port: 3128))
        try await self.withAuthority("PEM") { path in
            let words = ["--proxy", "http://anna@proxy.example", "--proxy-password-file", path]
            let services = try PushServices(try await Self.settings(words))
            #expect(services.proxy?.password == "PEM")
        }
    }

    @Test(arguments: [
        "https://anna:hunter2@h:1", "socks://anna:hunter2@h:1", "h:1", "http://anna:hunt#er2@h:1", "http://h:0",
        "http://h:70000", "http://anna:hunter2@h:1/path", "http://anna:hunter2@:1", "http://anna:hunter2@h:1?x",
    ])
    func aBadProxyIsNamedWithoutItsPassword(url: String) async throws {
        let settings = try await Self.settings(["--proxy", url])
        let text = await failure { _ = try PushServices(settings) }
        #expect(text?.hasPrefix("serve.proxy: ") == true)
        #expect(text?.contains("hunt") == false)
    }

    @Test func settingsThatContradictTheProxyAreNamed() async throws {
        for (words, text) in [
            (
                ["--proxy", "http://h", "--sandbox-service", "127.0.0.1:2197"],
                "serve.sandboxService: through serve.proxy"
            ),
            (["--proxy-password-file", "/nothing"], "serve.proxyPasswordFile has no effect without serve.proxy"),
            (["--proxy", "http://u:p@h", "--proxy-password-file", "/nothing"], "must have a user and no password"),
            (["--proxy", "http://u@h", "--proxy-password-file", "/nothing"], "serve.proxyPasswordFile"),
        ] {
            let settings = try await Self.settings(words)
            #expect(await failure { _ = try PushServices(settings) }?.contains(text) == true)
        }
    }

    @Test func theFallbackPortCountsForEveryPushService() async throws {
        let services = try PushServices(try await Self.settings(["--fallback-port", "2197"]))
        #expect(services.endpoints.values.allSatisfy { $0.port == 443 && $0.fallbackPort == 2197 })
        let same = try await Self.settings(["--fallback-port", "443"])
        _ = try PushServices(same)
        #expect(await failure { try same.check() }?.contains("443 is the first port of") == true)
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
