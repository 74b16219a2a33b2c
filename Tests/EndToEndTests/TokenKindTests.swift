import Foundation
import PushDevice
import PushSupport
import PushTesting
import PushTypes
import Testing

/// Kinds of tokens through the whole loop: each push type reaches the tokens of its kind, and no other suffers.
@Suite(.timeLimit(.patience)) struct TokenKindTests {
    let time = ManualTime(SystemTime().now)
    private let app = Vectors.bundleID

    private static let contents: [(kind: DeviceTokenKind, content: JSONValue)] = [
        (.alert, ["alert": "Hi"]),
        (.voip, ["pushType": "voip", "data": ["call": 1]]),
        (.complication, ["pushType": "complication", "data": ["steps": 1]]),
        (.fileProvider, ["fileProvider": ["containerIdentifier": "c"]]),
        (.location, ["pushType": "location"]),
        (.pushToTalk, ["pushType": "pushtotalk", "data": ["speaker": "a"]]),
        (
            .liveActivityStart,
            [
                "liveActivity": [
                    "event": "start", "attributesType": "Order", "attributes": ["n": 1], "contentState": ["s": 1],
                ], "alert": "Order",
            ]
        ),
        (.widgets, ["pushType": "widgets", "contentChanged": true]),
        (.controls, ["pushType": "controls", "contentChanged": true]),
    ]

    private func path(_ rest: String) -> String { "/v1/apps/\(self.app)/\(rest)" }

    @Test func eachPushTypeReachesTheTokensOfItsKind() async throws {
        try await withLoop(time: self.time) { loop in
            try await loop.withDevice(try await loop.activate()) { device in
                var tokens: [DeviceTokenKind: String] = [:]
                for kind in Self.contents.map(\.kind) {
                    let topic = try #require(Topic(self.app).flatMap { kind.topic(of: $0) })
                    tokens[kind] = try await device.deviceToken(for: topic.name, timeout: .patience)
                    // The user comes with the first token, and holds for all of the installation.
                    var more: [String: JSONValue] = ["installation": "i", "kind": .string(kind.rawValue)]
                    if kind == .alert { more["user"] = "alice" }
                    try await loop.provider.register(tokens[kind] ?? "", more).expect(201)
                }
                for (kind, content) in Self.contents {
                    guard case .object(var body) = content else { continue }
                    body["to"] = ["user": "alice"]
                    let answer = try await loop.provider.send(.object(body))
                    answer.expect(202)
                    let end = try await loop.provider.finished(answer)
                    #expect(end["counters"]["accepted"] == 1, "\(kind)")
                    #expect(end["recipients"] == 1, "\(kind)")
                    #expect(await device.next()?.deviceToken == tokens[kind], "\(kind)")
                }
            }
        }
    }

    @Test func anUpdateReachesItsActivityOnly() async throws {
        try await withLoop(time: self.time) { loop in
            let topic = "\(self.app).push-type.liveactivity"
            let other = try await loop.withDevice(try await loop.activate()) {
                try await $0.deviceToken(for: topic, timeout: .patience)
            }
            try await loop.provider.register(other, ["installation": "j", "activity": "order-43"]).expect(201)
            try await loop.withDevice(try await loop.activate()) { device in
                let token = try await device.deviceToken(for: topic, timeout: .patience)
                try await loop.provider.register(token, ["installation": "i", "activity": "order-42"]).expect(201)
                for event in ["update", "end"] {
                    let answer = try await loop.provider.send([
                        "to": ["activity": "order-42"],
                        "liveActivity": ["event": .string(event), "contentState": ["stop": 3]],
                    ])
                    answer.expect(202)
                    let end = try await loop.provider.finished(answer)
                    #expect(end["recipients"] == 1)
                    #expect(end["counters"]["accepted"] == 1)
                    #expect(await device.next()?.topic == topic)
                }
            }
        }
    }

    /// One wrong push must not cost a healthy device.
    @Test func aPushOfAnotherKindIsRefusedAndDeactivatesNothing() async throws {
        try await withLoop(time: self.time) { loop in
            let token = try await loop.token(try await loop.activate())
            try await loop.provider.register(token, ["user": "alice"]).expect(201)
            for (kind, content) in Self.contents where kind != .alert {
                guard case .object(var body) = content else { continue }
                body["environment"] = "sandbox"
                body["to"] = ["tokens": [.string(token)]]
                let named = try await loop.provider.send(.object(body))
                #expect(named.status == 409)
                #expect(named.code == "token_of_other_kind")
                #expect(named.field == "to.tokens[0]")
                body["to"] = ["user": "alice"]
                let audience = try await loop.provider.send(.object(body))
                #expect(audience.status == 409)
                #expect(audience.code == "no_token_of_kind")
            }
            let devices = try await loop.provider.api.get(self.path("devices/\(token)")).json["devices"]
            #expect(devices.elements.map { $0["state"] } == ["active"])
        }
    }
}
