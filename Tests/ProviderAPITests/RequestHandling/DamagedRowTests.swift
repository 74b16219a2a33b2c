import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderAPI
@testable import PushStore

/// Responses of the API with damaged rows in the store.
@Suite(.timeLimit(.patience)) struct DamagedRowTests {
    static let app = "/v1/apps/\(Vectors.bundleID)"

    @Test func aNotificationThatCannotBeReadIsLeftOutAndCancelled() async throws {
        try await self.withServer { provider, damage in
            let when: JSONValue = ["at": .integer(SystemTime().now.advanced(by: .seconds(86_400)).milliseconds)]
            let response = try await provider.send(["to": ["all": true], "alert": "Hi", "when": when])
            let path = "/v1/notifications/\(response.json["id"].stringValue ?? "")"
            _ = try await provider.send(["to": ["all": true], "alert": "Ho", "when": when])
            _ = try await damage("UPDATE notification SET audience = '{' WHERE number = 1")
            for list in ["/v1/notifications", "\(Self.app)/notifications", "/v1/notifications?state=scheduled"] {
                let page = try await provider.api.get(list)
                #expect(page.status == 200)
                #expect(page.json["notifications"].elements.count == 1)
            }
            let shown = try await provider.api.get(path)
            #expect(shown.status == 500)
            #expect(shown.code == "damaged")
            for (word, said) in [("resume", "cancel it"), ("pause", "is paused"), ("cancel", "is cancelled")] {
                let response = try await provider.api.post("\(path):\(word)", [:])
                #expect(response.status == 409)
                #expect(response.code == "unreadable")
                #expect(response.json["error"]["message"].stringValue?.contains(said) == true)
            }
            let states = try await damage("SELECT group_concat(state) FROM notification ORDER BY number")
            #expect(states == "cancelled,scheduled")
            let unknown = "/v1/notifications/\(UUID().uuidString):cancel"
            #expect(try await provider.api.post(unknown, [:]).status == 404)
        }
    }

    @Test func otherRowsStayUsable() async throws {
        try await self.withServer { provider, damage in
            for number in 1...3 {
                _ = try await provider.register(DeviceToken.numbered(number).hex, ["user": "alice"])
                let webhook: JSONValue = ["url": .string("https://example.com/\(number)")]
                try await provider.api.post("\(Self.app)/webhooks", webhook)
            }
            _ = try await damage("UPDATE device SET environment = 7 WHERE id = 2")
            _ = try await damage("UPDATE webhook SET sealed = randomblob(60) WHERE url LIKE '%2'")
            for list in ["devices", "devices?user=alice"] {
                let page = try await provider.api.get("\(Self.app)/\(list)")
                #expect(page.json["devices"].elements.count == 2)
            }
            let export = try await provider.api.get("\(Self.app)/devices:export")
            #expect(export.body.split(separator: UInt8(ascii: "\n")).count == 2)
            let device = "\(Self.app)/devices/\(DeviceToken.numbered(2).hex)"
            #expect(try await provider.api.get(device).status == 404)
            #expect(try await provider.api.delete(device).status == 204)
            #expect(try await damage("SELECT CAST(count(*) AS TEXT) FROM device") == "2")

            #expect(try await provider.api.get("\(Self.app)/webhooks").json["webhooks"].elements.count == 2)
            let id = try await damage("SELECT id FROM webhook WHERE url LIKE '%2'") ?? ""
            let shown = try await provider.api.get("/v1/webhooks/\(id)")
            #expect(shown.status == 500)
            #expect(shown.code == "damaged")
            #expect(try await provider.api.delete("/v1/webhooks/\(id)").status == 204)
        }
    }

    /// The function runs SQL and gives the first value, as text.
    private func withServer(
        _ body:
            @escaping @Sendable (RunningProvider, _ damage: @Sendable (String) async throws -> String?) async throws ->
            Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            var configuration = ProviderConfiguration(dataDirectory: directory)
            configuration.port = 0
            configuration.bePatient()
            let server = try await ProviderServer(
                configuration: configuration,
                senders: ScriptedSender(),
                logger: silentLogger
            )
            try await withServices([server]) {
                let base = "http://127.0.0.1:\(try await server.port())"
                let provider = RunningProvider(api: JSONClient(baseURL: base, apiKey: server.firstAdminKey))
                try await provider.addVectorsApp()
                let database = server.core.store.database
                try await body(provider) { sql in
                    try await database.write { try $0.value(sql: sql) as String? }
                }
            }
        }
    }
}
