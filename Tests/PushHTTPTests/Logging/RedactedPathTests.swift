import Logging
import PushHTTP
import PushProvider
import PushTesting
import Synchronization
import Testing

@testable import ProviderAPI
@testable import PushStore

/// The paths of requests in the log.
@Suite(.timeLimit(.patience)) struct RedactedPathTests {
    static let token = String(repeating: "0a1b2c3d", count: 8)
    static let notification = "7D6F2A10-9C1E-4B5A-8D3E-0123456789AB"

    @Test(arguments: [
        ("/v1/apps/com.example.MyApp/devices/\(token)", "/v1/apps/com.example.MyApp/devices/0a1b2c…"),
        ("/v1/apps/com.example.MyApp/devices/\(token)/history", "/v1/apps/com.example.MyApp/devices/0a1b2c…/history"),
        ("/v1/apps/com.example.MyApp/devices/%30\(token)", "/v1/apps/com.example.MyApp/devices/%300a1…"),
        ("/v1/apps/com.example.MyApp/users/alice/badge", "/v1/apps/com.example.MyApp/users/al…/badge"),
        ("/v1/apps/com.example.MyApp/users//alice@example.com/badge", "/v1/apps/com.example.MyApp/users/alice@…/badge"),
        ("/v1/apps/com.example.MyApp/notifications:preview", "/v1/apps/com.example.MyApp/notifications:preview"),
        ("/v1/notifications/\(notification)", "/v1/notifications/\(notification)"),
        ("/compat/publisher/com.example.MyApp/a-key-of-an-app/register", "/compat/publisher/com.ex…/a-key-…/register"),
        ("/compat/publisher/a/\(notification)/register", "/compat/publisher/a/7D6F2A…/register"),
        ("/\(token)", "/0a1b2c…"), ("", ""), ("/", "/"),
    ])
    func tokensUsersAndKeysAreCutShort(path: String, logged: String) {
        #expect(RedactedPath.of(path) == logged)
    }

    @Test func aLongPathIsCut() {
        #expect(RedactedPath.of("/v1/" + String(repeating: "a/", count: 10_000)).utf8.count <= 300)
    }

    @Test(arguments: [
        "ALTER TABLE tokenEvent RENAME TO gone"
    ])
    func anErrorNamesNoWholeToken(damage: String) async throws {
        let log = RecordedLog()
        try await withTemporaryDirectory { directory in
            var configuration = ProviderConfiguration(dataDirectory: directory)
            configuration.port = 0
            configuration.bePatient()
            let server = try await ProviderServer(
                configuration: configuration,
                senders: ScriptedSender(),
                logger: log.logger
            )
            try await withServices([server]) {
                let base = "http://127.0.0.1:\(try await server.port())"
                let provider = RunningProvider(api: JSONClient(baseURL: base, apiKey: server.firstAdminKey))
                try await provider.addVectorsApp()
                let path = "/v1/apps/\(Vectors.bundleID)/devices/\(Self.token)"
                _ = try await provider.register(Self.token)
                #expect(try await provider.api.delete(path).status == 204)
                try await server.core.store.database.run(sql: damage)
                #expect(try await provider.api.get("\(path)/history").status == 500)
            }
        }
        let lines = log.lines
        #expect(lines.contains { $0.contains("/devices/0a1b2c…/history") }, "\(lines)")
        #expect(!lines.contains { $0.contains(Self.token) })
    }
}
