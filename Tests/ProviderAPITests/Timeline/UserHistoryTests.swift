import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderAPI

/// Whose a delivery is, on a device that several people use.
@Suite(.timeLimit(.patience)) struct UserHistoryTests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"

    @Test func aDeliveryIsItsUsersOfTheTime() async throws {
        let time = ManualTime()
        try await withProvider(senders: ScriptedSender(), time: time) { provider in
            try await provider.addVectorsApp()
            func push(_ to: JSONValue) async throws {
                _ = try await provider.finished(
                    try await provider.send(["to": to, "alert": "Hi", "environment": "sandbox"])
                )
                time.advance(by: .seconds(1))
            }
            func history(_ user: String) async throws -> Int {
                try await provider.api.get("\(Self.app)/users/\(user)/history").json["deliveries"].elements.count
            }
            let named: JSONValue = ["tokens": [.string(Vectors.tokenA)]]
            _ = try await provider.register(Vectors.tokenA, ["user": "alice"])
            for to in [["user": "alice"], ["all": true], named] as [JSONValue] { try await push(to) }
            _ = try await provider.register(Vectors.tokenA, ["user": "carol"])
            time.advance(by: .seconds(1))
            #expect(try await history("alice") == 3)
            #expect(try await history("carol") == 0)
            for to in [["user": "carol"], ["all": true]] as [JSONValue] { try await push(to) }
            #expect(try await history("alice") == 3)
            #expect(try await history("carol") == 2)
            let answer = try await provider.api.delete("\(Self.app)/users/alice")
            #expect(answer.json == ["state": "erased", "underWay": 0])
            #expect(try await history("alice") == 0)
            #expect(try await history("carol") == 2)
        }
    }

    /// The store's texts end at a NUL, so that `alice%00` would be Alice there.
    @Test func aUserIDWithANULIsNobody() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA, ["user": "alice"])
            for user in ["alice%00", "alice%00x", "%00"] {
                for (method, rest) in [("DELETE", ""), ("GET", "/history"), ("GET", "/badge")] {
                    let response = try await provider.api.call(method, "\(Self.app)/users/\(user)\(rest)", nil)
                    #expect(response.status == 400 && response.code == "invalid_value", "\(method) \(user)\(rest)")
                }
            }
            let devices = try await provider.api.get("\(Self.app)/devices/\(Vectors.tokenA)").json["devices"].elements
            #expect(devices.map { $0["user"] } == ["alice"])
        }
    }

    @Test func theAnswerToAStopSaysWhatIsUnderWay() async throws {
        let (sender, gate) = (ScriptedSender(), Gate())
        sender.onSend { _ in await gate.pass() }
        try await withProvider(senders: sender) { provider in
            defer { gate.open() }
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA, ["user": "alice"])
            let sent = try await provider.send(["to": ["all": true], "alert": "Hi", "environment": "sandbox"])
            let path = "/v1/notifications/\(sent.json["id"].stringValue ?? "")"
            try await eventually { !sender.sent.isEmpty }
            let opted = try await provider.api.put("\(Self.app)/users/alice/preferences", ["optOuts": ["a"]])
            #expect(opted.json["underWay"] == 1)
            let paused = try await provider.api.post("\(path):pause", [:]).json
            #expect(paused["state"] == "paused" && paused["underWay"] == 1)
            #expect(try await provider.api.post("\(Self.app):pause", [:]).json["underWay"] == 1)
            #expect(try await provider.api.delete("\(Self.app)/credentials/sandbox").json == ["underWay": 1])
            gate.open()
            try await eventually { try await provider.api.get(path).json["state"] == "done" }
            let resumed = try await provider.api.post("\(path):resume", [:])
            #expect(resumed.status == 200 && resumed.json["state"] == "done")
            #expect(resumed.json["counters"]["accepted"] == 1)
        }
    }
}
