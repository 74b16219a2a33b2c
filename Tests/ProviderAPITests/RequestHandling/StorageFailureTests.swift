import Foundation
import GRDB
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderAPI
@testable import PushStore

/// A provider whose disk is full.
@Suite(.timeLimit(.patience)) struct StorageFailureTests {
    static let app = "/v1/apps/\(Vectors.bundleID)"

    static let other = DeviceToken.numbered(2).hex

    /// Every API reports it, no request has an effect, and all work again once the disk has room.
    @Test func aFailedWriteIsA503() async throws {
        try await self.withServer { provider, database in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA)
            try await database.setQueryOnly(true)
            let devices = "token,environment\n\(Self.other),sandbox\n"
            for response in [
                try await provider.register(Self.other),
                try await provider.send(["to": ["all": true], "alert": "Hi"]),
                try await provider.api.post("/v1/keys", ["name": "reader", "scopes": ["read"]]),
                try await provider.api.delete("\(Self.app)/devices/\(Vectors.tokenA)"),
                try await provider.api.call(
                    "POST",
                    "\(Self.app)/devices:import",
                    Data(devices.utf8),
                    headers: ["content-type": "text/csv"]
                ), try await provider.api.get("/ready"),
            ] {
                #expect(response.status == 503)
                #expect(response.code == "storage_unavailable")
                #expect(response.headers["retry-after"] == "5")
            }
            let form = try await provider.post(
                "\(Forms.publisher)/\(Forms.key)/register",
                [("devId", "6F9619FF-8B86-D011-B42D-00C04FC964FF"), ("token", Forms.token), ("alertEnabled", "4")]
            )
            #expect(form.status == 503)
            #expect(try await provider.api.get("/health").status == 200)
            #expect(try await provider.api.get("\(Self.app)/notifications").json["notifications"] == [])
            let metrics = String(decoding: try await provider.api.get("/metrics").body, as: UTF8.self)
            #expect(!metrics.contains("martlet_store_write_failures_total 0"))

            try await database.setQueryOnly(false)
            #expect(try await provider.devices().map { $0["token"].stringValue } == [Vectors.tokenA])
            // It was asked a moment ago.
            while try await provider.api.get("/ready").status != 200 { try Task.checkCancellation() }
            #expect(try await provider.register(Self.other).status == 201)
        }
    }

    private func withServer(
        _ body: @escaping @Sendable (RunningProvider, SQLiteDatabase) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            var configuration = ProviderConfiguration(dataDirectory: directory)
            configuration.port = 0
            configuration.bePatient()
            configuration.compatibility = Forms.configuration
            let server = try await ProviderServer(
                configuration: configuration,
                senders: ScriptedSender(),
                logger: silentLogger
            )
            try await withServices([server]) {
                let base = "http://127.0.0.1:\(try await server.port())"
                let api = JSONClient(baseURL: base, apiKey: server.firstAdminKey)
                try await body(RunningProvider(api: api), try #require(server.core.store.sqlite))
            }
        }
    }
}

extension SQLiteDatabase {
    /// Writes fail, as on a disk that has become read-only.
    fileprivate func setQueryOnly(_ isOn: Bool) async throws {
        try await self.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = \(isOn ? 1 : 0)") }
    }
}
