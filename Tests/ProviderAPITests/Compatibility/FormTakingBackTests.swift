import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderAPI

/// What a registration form promises of pushes in memory (docs/decisions/0051).
@Suite(.timeLimit(.patience)) struct FormTakingBackTests {
    private static let (first, second) = (String(repeating: "a1", count: 32), String(repeating: "b7", count: 32))

    /// The first push to Alice is in flight, and the second waits in the same page for its turn. Meanwhile its token goes to
    /// Bob's phone.
    @Test func aPushToATokenThatGoesToAnotherUserIsNotSent() async throws {
        let (sender, gate) = (ScriptedSender(), Gate())
        try await Forms.withProvider(senders: sender) { provider in
            defer { gate.open() }
            sender.onSend { _ in await gate.pass() }
            _ = try await provider.register(Self.first, ["user": "alice"])
            _ = try await provider.register(Self.second, ["user": "alice", "installation": "phone-of-alice"])
            _ = try await provider.register(Vectors.tokenA, ["user": "bob", "installation": "phone-of-bob"])
            let push: JSONValue = [
                "to": ["user": "alice"], "alert": "Hi", "environment": "sandbox", "urgent": false,
            ]
            let id = try #require(try await provider.send(push).json["id"].stringValue)
            try await eventually { !sender.sent.isEmpty }
            let form = [("devId", "phone-of-bob"), ("token", Self.second), ("environment", "developer")]
            #expect(try await provider.post("\(Forms.publisher)/\(Forms.key)/register", form).status == 200)
            gate.open()
            try await eventually {
                try await provider.api.get("/v1/notifications/\(id)").json["counters"]["accepted"] == 1
            }
            #expect(sender.sent.map(\.token.hex) == [Self.first])
            let device = try #require(try await provider.devices().first { $0["token"] == .string(Self.second) })
            #expect(device["user"] == "bob")
        }
    }
}
