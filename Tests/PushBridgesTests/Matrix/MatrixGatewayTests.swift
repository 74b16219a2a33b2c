import Foundation
import NIOCore
import ProviderAPI
import PushHTTP
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

/// The Matrix push gateway over a real port.
@Suite(.timeLimit(.patience)) struct MatrixGatewayTests {
    private static let gone = Outcome.rejected(Rejection(status: 410, reasonText: "Unregistered"))

    private static func token(_ hex: String) throws -> DeviceToken { try #require(DeviceToken(hex: hex)) }

    private static func payload(_ sent: ScriptedSender.Sent) throws -> JSONValue {
        try JSONValue(parsing: Data(sent.notification.payload.readableBytesView))
    }

    @Test func anEventIsANotificationAndItsRepetitionIsTheSame() async throws {
        let sender = ScriptedSender()
        try await withMatrix(sender) { matrix in
            for _ in 1...3 {
                let response = try await matrix.notify(MatrixVectors.eventOnly)
                #expect(response.status == 200)
                #expect(response.json == ["rejected": []])
                #expect(response.headers["content-type"] == "application/json")
                try await matrix.ledger(1)
            }
            // The number of unread messages may be another one by then.
            _ = try await matrix.notify(MatrixVectors.eventOnly.replacing("\"unread\":2", with: "\"unread\":3"))
            #expect(try await matrix.ledger(1).count == 1)
            #expect(sender.sent.count == 1)
            let sent = try #require(sender.sent.first)
            #expect(try Self.payload(sent) == MatrixVectors.eventOnlyPayload)
            #expect(sent.token.hex == Vectors.tokenA)
            #expect(sent.environment == .production)
            #expect(sent.lane == .urgent)
            #expect(sent.notification.pushType == .alert)
            #expect(sent.notification.priority == .immediate)
            #expect(sent.notification.topic.name == Vectors.bundleID)
        }
    }

    @Test func allShapesArrive() async throws {
        let sender = ScriptedSender()
        try await withMatrix(sender) { matrix in
            #expect(try await matrix.notify(MatrixVectors.full).status == 200)
            try await matrix.ledger(1)
            #expect(try await matrix.notify(MatrixVectors.countOnly).status == 200)
            try await matrix.ledger(2)
            let payloads = try sender.sent.map(Self.payload)
            #expect(payloads == [MatrixVectors.fullPayload, ["aps": ["badge": 0]]])
            #expect(sender.sent.map(\.notification.priority) == [.powerAware, .immediate])
            #expect(sender.sent.map(\.notification.collapseID) == [nil, "badge"])
        }
    }

    @Test func onlyPushkeysThatAreGoneAreRejected() async throws {
        let (sender, log) = (ScriptedSender(), RecordedLog())
        let devices: JSONValue = [
            ["app_id": .string(MatrixVectors.appID), "pushkey": .string(MatrixVectors.tokenA)],
            ["app_id": .string(MatrixVectors.appID), "pushkey": .string(MatrixVectors.tokenB)],
            ["app_id": "org.nobody", "pushkey": "eA=="],
        ]
        try await withMatrix(sender, logger: log.logger) { matrix in
            sender.script(try Self.token(Vectors.tokenA), Self.gone)
            #expect(try await matrix.event("$1").json == ["rejected": []], "nobody knew of the 410 yet")
            try await matrix.ledger(1)
            let response = try await matrix.notify(MatrixVectors.body(["event_id": "$2", "devices": devices]))
            #expect(response.status == 200)
            #expect(response.json == ["rejected": [.string(MatrixVectors.tokenA), "eA=="]])
            try await matrix.ledger(2)
            #expect(sender.sent.map(\.token.hex) == [Vectors.tokenA, MatrixPushkey.token(MatrixVectors.tokenB)?.hex])
        }
        let lines = log.lines.filter { $0.hasPrefix("Matrix pushkey rejected") }
        #expect(lines.count == 2)
        #expect(lines.contains { $0.contains("app_id=org.nobody") && $0.contains(MatrixPushkey.hash("eA==")) })
        #expect(
            !log.lines.contains {
                $0.contains(MatrixVectors.tokenA) || $0.contains(Vectors.tokenA) || $0.contains("$2")
            }
        )
    }

    @Test func aPushkeyThatIsSetAgainIsTriedAgain() async throws {
        let sender = ScriptedSender()
        try await withMatrix(sender) { matrix in
            sender.script(try Self.token(Vectors.tokenA), Self.gone)
            _ = try await matrix.event("$1")
            try await matrix.ledger(1)
            let future = SystemTime().now.advanced(by: .seconds(3600)).seconds
            let again = MatrixVectors.body(["event_id": "$2"], device: ["pushkey_ts": .integer(future)])
            #expect(try await matrix.notify(again).json == ["rejected": []])
            try await matrix.ledger(2)
            #expect(sender.sent.count == 2)
            #expect(try await matrix.event("$3").json == ["rejected": []], "it was reached since")
        }
    }

    @Test func aBadTokenWithoutADeviceIsNotRejected() async throws {
        let sender = ScriptedSender()
        try await withMatrix(sender) { matrix in
            sender.script(
                try Self.token(Vectors.tokenA),
                .rejected(Rejection(status: 400, reasonText: "BadDeviceToken"))
            )
            _ = try await matrix.event("$1")
            try await matrix.ledger(1)
            #expect(try await matrix.event("$2").json == ["rejected": []])
            try await matrix.ledger(2)
            #expect(sender.sent.count == 2)
        }
    }

    @Test func theDeviceOfARegisteredTokenDecides() async throws {
        let sender = ScriptedSender()
        try await withMatrix(sender) { matrix in
            let device: [String: JSONValue] = ["environment": "production"]
            _ = try await matrix.provider.register(Vectors.tokenA, device)
            let later = SystemTime().now.advanced(by: .seconds(3600))
            let gone = Rejection(status: 410, reasonText: "Unregistered", timestamp: later)
            sender.script(try Self.token(Vectors.tokenA), .rejected(gone))
            _ = try await matrix.event("$1")
            try await matrix.ledger(1)
            #expect(try await matrix.event("$2").json == ["rejected": [.string(MatrixVectors.tokenA)]])
            _ = try await matrix.provider.register(Vectors.tokenA, device)
            #expect(try await matrix.event("$3").json == ["rejected": []])
            try await matrix.ledger(2)
            #expect(sender.sent.count == 2)
        }
    }

    @Test func aTokenOfAnotherKindStopsNothing() async throws {
        let sender = ScriptedSender()
        try await withMatrix(sender) { matrix in
            _ = try await matrix.provider.register(Vectors.tokenA, ["environment": "production", "kind": "voip"])
            let response = try await matrix.event("$1")
            #expect(response.status == 200)
            #expect(response.json == ["rejected": []])
            #expect(sender.sent.isEmpty)
        }
    }

    @Test func whatIsMissingHereIsTriedAgainAndNoPushkeyIsRejected() async throws {
        try await withMatrix(environments: [.sandbox]) { matrix in
            let response = try await matrix.event("$1")
            #expect(response.status == 502)
            #expect(response.json["errcode"] == "M_UNKNOWN")
            #expect(response.json["rejected"] == .null)
            try await matrix.provider.addVectorsApp(in: [.production])
            #expect(try await matrix.event("$1").status == 200)
        }
    }

    @Test func aChangeOfABridgeCountsAtOnce() async throws {
        let sender = ScriptedSender()
        try await withMatrix(sender) { matrix in
            #expect(try await matrix.event("$1").json == ["rejected": []])
            try await matrix.ledger(1)
            try await matrix.provider.api.delete(RunningMatrix.bridge)
            #expect(try await matrix.event("$2").json == ["rejected": [.string(MatrixVectors.tokenA)]])
            let pattern = "\(RunningMatrix.app)/bridges/matrix/com.example.%2A.prod"
            #expect(try await matrix.provider.api.put(pattern, ["environment": "sandbox"]).status == 200)
            #expect(try await matrix.event("$3").json == ["rejected": []])
            try await matrix.ledger(2)
            #expect(sender.sent.map(\.environment) == [.production, .sandbox])
            let wrong = try await matrix.provider.api.put(RunningMatrix.bridge, ["settings": ["count": false]])
            #expect(wrong.status == 400)
        }
    }

    @Test func whereAddressesAreForwardedTheGatewaySaysSo() async throws {
        try await withMatrix(settings: ["unifiedPush": true]) { matrix in
            let response = try await matrix.homeserver.call("GET", MatrixVectors.path, nil)
            #expect(response.status == 200)
            #expect(response.json == ["unifiedpush": ["gateway": "matrix"]])
        }
    }

    @Test func otherRequestsAreAnsweredInTheWordsOfMatrix() async throws {
        try await withMatrix { matrix in
            for (method, path, status) in [
                ("GET", MatrixVectors.path, 405), ("PUT", MatrixVectors.path, 405), ("DELETE", MatrixVectors.path, 405),
                ("GET", "/_matrix/push/v1", 404), ("GET", "/_matrix/push", 404), ("GET", "/_matrix", 404),
                ("POST", "/_matrix/push/v1/other", 404),
                ("GET", "/_matrix/client/versions", 404), ("POST", "/_matrix/push/v1/notify/more", 404),
            ] {
                let response = try await matrix.homeserver.call(method, path, nil)
                #expect(response.status == status, "\(method) \(path)")
                #expect(response.json["errcode"] == "M_UNRECOGNIZED", "\(method) \(path)")
                #expect((response.headers["allow"] == "POST") == (status == 405))
            }
            for (body, code) in [("{", "M_NOT_JSON"), (#"{"notification":{}}"#, "M_BAD_JSON")] {
                let response = try await matrix.notify(body)
                #expect(response.status == 400)
                #expect(response.json["errcode"] == .string(code))
                #expect(response.json["error"].stringValue != nil)
            }
        }
    }

    @Test func aBodyThatIsTooLongIsNotReadToItsEnd() async throws {
        try await withMatrix { matrix in
            let connection = try await RawConnection.open(port: matrix.port)
            connection.write("POST \(MatrixVectors.path) HTTP/1.1\r\nhost: a\r\ncontent-length: 100000000\r\n\r\n".utf8)
            connection.write([UInt8](repeating: 0x20, count: 512 * 1024 + 1))
            let response = String(decoding: await connection.readToEnd(), as: UTF8.self)
            #expect(response.hasPrefix("HTTP/1.1 413"))
            #expect(response.contains("M_TOO_LARGE"))
        }
    }

    @Test func aHomeserverThatIsTooFastWaits() async throws {
        try await withMatrix(time: ManualTime(), configure: { $0.limits.homeserverRate = 1 }) { matrix in
            var response = try await matrix.event("$0")
            for number in 1...1000 where response.status == 200 { response = try await matrix.event("$\(number)") }
            #expect(response.status == 429)
            #expect(response.json["errcode"] == "M_LIMIT_EXCEEDED")
            #expect(response.json["retry_after_ms"].integerValue != nil)
            #expect(response.headers["retry-after"] != nil)
        }
    }

    @Test func textsMayComeFromTemplates() async throws {
        let sender = ScriptedSender()
        let names: JSONValue = ["MSG_FROM_USER_IN_ROOM_WITH_CONTENT": "message", "*": "missing"]
        try await withMatrix(sender, settings: ["templates": names]) { matrix in
            let content: JSONValue = [
                "alert": ["title": "{{sender}} in {{room|a room}}", "body": "{{body}}"], "template": true,
            ]
            let path = "\(RunningMatrix.app)/templates"
            #expect(try await matrix.provider.api.post(path, ["name": "message", "content": content]).status == 201)
            _ = try await matrix.notify(MatrixVectors.full)
            try await matrix.ledger(1)
            _ = try await matrix.event("$3")
            try await matrix.ledger(2)
            let payloads = try sender.sent.map(Self.payload)
            let first: JSONValue = [
                "aps": ["alert": ["title": "Ada in Lab", "body": "tea?"], "badge": 3], "room_id": "!r1:example.org",
                "event_id": "$e2",
            ]
            #expect(payloads.first == first)
            #expect(payloads.last?["aps"]["alert"]["loc-key"] == "MSG_FROM_USER", "there is no such template")
        }
    }

    /// A connection that is not kept ends with its deadline, and so tells when that has passed.
    @Test func theConnectionOfAHomeserverIsKept() async throws {
        func request(_ id: String) throws -> [UInt8] {
            let body = try MatrixVectors.body(["event_id": .string(id)]).text
            let head = "POST \(MatrixVectors.path) HTTP/1.1\r\nhost: a\r\ncontent-length: \(body.count)\r\n\r\n"
            return Array(head.utf8) + body
        }
        @Sendable func isWhole(_ bytes: [UInt8]) -> Bool {
            String(decoding: bytes, as: UTF8.self).hasSuffix(#"{"rejected":[]}"#)
        }
        let (second, third) = (try request("$2"), try request("$3"))
        try await withGrowingLimit { limit in
            let configure: (inout ProviderConfiguration) -> Void = {
                $0.limits.unauthenticated.deadline = TimeAmount(limit)
            }
            // A request on a connection that has ended is an error, from the first one on.
            let result = try? await withMatrix(configure: configure) { matrix in
                _ = try await matrix.event("$1")
                try await matrix.ledger(1)
                let kept = try await RawConnection.open(port: matrix.port)
                kept.write(second)
                guard isWhole(try await kept.read(until: isWhole)) else { return false }
                let other = try await RawConnection.open(port: matrix.port)
                other.write("GET \(MatrixVectors.path) HTTP/1.1\r\nhost: a\r\n\r\n".utf8)
                _ = await other.readToEnd()
                kept.write(third)
                let response = try await kept.read(until: isWhole)
                #expect(String(decoding: response, as: UTF8.self).hasPrefix("HTTP/1.1 200"))
                await kept.close()
                return true
            }
            return result ?? false
        }
    }
}
