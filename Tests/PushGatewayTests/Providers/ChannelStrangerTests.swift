import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushGateway

/// Providers that ask for what is not theirs: no request leaves anything behind.
@Suite struct ChannelStrangerTests {
    /// Ids that are too long or no base64, and one that nobody has.
    @Test func badIDsChangeNothing() async throws {
        try await BroadcastTests.withChannels { test in
            let channel = try #require(await test.response(BroadcastTests.create(policy: 1)).channelID)
            let ids: [(String, Reason)] = [
                (String(repeating: "A", count: 10_240), .badChannelId), ("../x", .badChannelId),
                (String(repeating: "A", count: 24), .channelNotRegistered),
            ]
            for (id, reason) in ids {
                for method in ["GET", "DELETE"] {
                    #expect(
                        test.reason(BroadcastTests.manage(method, channel: id)) == reason,
                        "\(method) \(id.prefix(9))"
                    )
                }
                #expect(test.reason(BroadcastTests.broadcast(id)) == reason)
            }
            #expect(test.deleted.ids == [])
            #expect(await Self.list(test) == [channel])
        }
    }

    /// A channel of one app is none of another, and a certificate of one app reaches no other.
    @Test func aStrangerHasNoChannels() async throws {
        let certificate = try PushRequestValidatorTests.certificate([Vectors.bundleID])
        try await BroadcastTests.withChannels(certificate: certificate) { test in
            let created = await test.response(BroadcastTests.create(policy: 1, ["authorization": nil]))
            let channel = try #require(created.channelID)
            for path in ["channels", "all-channels"] {
                let other: [String: String?] = [
                    "authorization": nil, ":path": "/1/apps/com.example.Other/\(path)",
                ]
                for method in path == "channels" ? ["GET", "POST", "DELETE"] : ["GET"] {
                    let request = BroadcastTests.manage(method, other, channel: channel)
                    #expect(test.reason(request) == .topicMismatch, "\(method) \(path)")
                }
            }
            #expect(test.deleted.ids == [])
            #expect(await Self.list(test, ["authorization": nil]) == [channel])
        }
    }

    /// A full app stays full, however often it asks, and a deletion makes room for one.
    @Test func whatIsRefusedTakesNoRoom() async throws {
        try await BroadcastTests.withChannels(capacity: 2) { test in
            let first = try #require(await test.response(BroadcastTests.create(policy: 0)).channelID)
            _ = await test.response(BroadcastTests.create(policy: 0))
            for _ in 0..<50 { #expect(await test.response(BroadcastTests.create(policy: 0)).status == 400) }
            #expect(await Self.list(test).count == 2)
            for status in [204, 400] {
                #expect(await test.response(BroadcastTests.manage("DELETE", channel: first)).status == status)
            }
            #expect(await test.response(BroadcastTests.create(policy: 0)).status == 201)
            #expect(await test.response(BroadcastTests.create(policy: 0)).status == 400)
        }
    }

    private static func list(_ test: ChannelTest, _ changes: [String: String?] = [:]) async -> [String] {
        let response = await test.response(BroadcastTests.manage("GET", path: "all-channels", changes))
        let text = response.body ?? ""
        return text.split(separator: "\"").map(String.init).filter { $0.utf8.count == 24 }
    }
}
