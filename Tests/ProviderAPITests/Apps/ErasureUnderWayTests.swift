import Foundation
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderAPI
@testable import PushStore

/// The erasure of a user to whom a push is under way.
@Suite(.timeLimit(.patience)) struct ErasureUnderWayTests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"

    /// Runs a provider whose push to Alice is under way until the gate opens.
    private func withPush(
        patience: Duration,
        _ body:
            @escaping @Sendable (RunningProvider, SQLStore, ScriptedSender, Gate, _ push: String) async throws ->
            Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            var configuration = ProviderConfiguration(dataDirectory: directory)
            configuration.port = 0
            configuration.bePatient()
            configuration.limits.outcome = patience
            let (sender, gate) = (ScriptedSender(), Gate())
            sender.onSend { _ in await gate.pass() }
            let server = try await ProviderServer(configuration: configuration, senders: sender, logger: silentLogger)
            try await withServices([server]) {
                defer { gate.open() }
                let address = "http://127.0.0.1:\(try await server.port())"
                let provider = RunningProvider(api: JSONClient(baseURL: address, apiKey: server.firstAdminKey))
                try await provider.addVectorsApp()
                // Nothing listens there, so that events wait.
                try await provider.api.post("\(Self.app)/webhooks", ["url": "https://hooks.example.com/push"])
                _ = try await provider.register(Vectors.tokenA, ["user": "alice"])
                let to: JSONValue = ["tokens": [.string(Vectors.tokenA)]]
                let sent = try await provider.send(["to": to, "alert": "Hi", "environment": "sandbox"])
                try await eventually { !sender.sent.isEmpty }
                try await body(provider, server.core.store, sender, gate, sent.json["id"].stringValue ?? "")
            }
        }
    }

    /// The push ends while the request waits for it. Its outcome and its events are gone with the answer.
    @Test func theAnswerComesAfterWhatIsUnderWay() async throws {
        try await self.withPush(patience: .patience) { provider, store, sender, gate, push in
            sender.onTakeBack { gate.open() }
            let answer = try await provider.api.delete("\(Self.app)/users/alice")
            #expect(answer.status == 200)
            #expect(answer.json == ["state": "erased", "underWay": 0])
            let blocks = try await store.database.read { database in
                let sql = "SELECT count(*) FROM eventBlock WHERE instr(events, ?) > 0"
                return try ["alice", Vectors.tokenA].map { try database.count(sql: sql, [Data($0.utf8)]) }
            }
            #expect(blocks == [0, 0])
            let progress = try await provider.api.get("/v1/notifications/\(push)").json
            #expect(progress["counters"]["accepted"] == 1)
        }
    }

    /// The request is repeated until it is answered as complete: only after that it is another one.
    @Test func askingForTheStateErasesNothingNew() async throws {
        try await self.withPush(patience: .milliseconds(1)) { provider, store, _, gate, _ in
            let (path, token) = ("\(Self.app)/users/alice", DeviceToken.numbered(2))
            let bundleID = try #require(Topic(Vectors.bundleID))
            let app = try #require(try await store.app(bundleID: bundleID)).id
            #expect(try await provider.api.delete(path).status == 202)
            #expect(try await provider.register(token.hex, ["user": "alice"]).status == 201)
            #expect(try await provider.api.delete(path).status == 202)
            gate.open()
            while try await provider.api.delete(path).status != 200 { try Task.checkCancellation() }
            #expect(try await store.devices(app: app, token: token).count == 1)
            while try await provider.api.delete(path).status != 200 { try Task.checkCancellation() }
            #expect(try await store.devices(app: app, token: token).isEmpty)
        }
    }

    /// A device that another user had at the request, and on which the user signs in after it, is not part of it. It is part of
    /// the next one.
    @Test func aDeviceOnWhichTheUserSignsInAfterTheRequestStays() async throws {
        try await self.withPush(patience: .milliseconds(1)) { provider, store, _, gate, _ in
            let (path, token) = ("\(Self.app)/users/alice", DeviceToken.numbered(2))
            let bundleID = try #require(Topic(Vectors.bundleID))
            let app = try #require(try await store.app(bundleID: bundleID)).id
            #expect(try await provider.register(token.hex, ["user": "bob", "tags": ["shared"]]).status == 201)
            #expect(try await provider.api.delete(path).status == 202)
            #expect(try await provider.register(token.hex, ["user": "alice"]).status == 200)
            gate.open()
            while try await provider.api.delete(path).status != 200 { try Task.checkCancellation() }
            let profiles = try await store.devices(app: app, token: token).map(\.profile)
            #expect(profiles.map(\.user) == ["alice"] && profiles.map(\.tags) == [["shared"]])
            while try await provider.api.delete(path).status != 200 { try Task.checkCancellation() }
            #expect(try await store.devices(app: app, token: token).isEmpty)
        }
    }

    @Test func theAnswerCountsWhatItDoesNotWaitFor() async throws {
        try await self.withPush(patience: .milliseconds(1)) { provider, _, _, gate, _ in
            let answer = try await provider.api.delete("\(Self.app)/users/alice")
            #expect(answer.status == 202)
            #expect(answer.json == ["state": "erasing", "underWay": 1])
            gate.open()
            while try await provider.api.delete("\(Self.app)/users/alice").status != 200 {
                try Task.checkCancellation()
            }
        }
    }
}
