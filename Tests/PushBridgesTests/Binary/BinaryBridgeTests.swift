import Foundation
import NIOCore
import PushSender
import PushSupport
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushBridges

/// Old providers over TLS, with the vectors of docs/bridges-legacy.md.
@Suite(.timeLimit(.patience)) struct BinaryBridgeTests {
    private static let badToken = BinaryVector.bad[0].bytes
    private static let otherToken = Vectors.tokenA.replacing("302b", with: "402b")

    /// Command 2 with this identifier, token and payload.
    private static func frame(
        _ identifier: UInt32,
        token: String = Vectors.tokenA,
        payload: String = Vectors.payload,
        priority: Priority? = .immediate
    ) throws -> [UInt8] {
        let notification = BinaryNotification(
            token: try #require(Hexadecimal.decode(token)),
            payload: ByteBuffer(string: payload),
            identifier: identifier,
            expiration: 1_700_003_600,
            priority: priority
        )
        return Array(BinaryFrame(command: .framed, notification: notification).encoded.readableBytesView)
    }

    @Test func aFrameIsANotificationOfTheLedgerAndGetsNoBytesBack() async throws {
        try await BinaryBridgeFixture.run { fixture in
            let response = try await fixture.exchange(BinaryVector.framed.bytes)
            #expect(response.isEmpty)
            var sent = fixture.sent.makeAsyncIterator()
            let push = try #require(await sent.next())
            #expect(push.token.hex == Vectors.tokenA && push.environment == .sandbox)
            #expect(push.notification.topic.name == Vectors.bundleID)
            #expect(push.notification.pushType == .alert && push.notification.priority == .immediate)
            #expect(push.notification.expiration == .at(seconds: 1_700_003_600))
            #expect(String(buffer: push.notification.payload) == Vectors.payload)
            let list = try await fixture.provider.api.get("/v1/apps/\(Vectors.bundleID)/notifications").json
            #expect(list["notifications"].elements.count == 1)
        }
    }

    @Test func nothingBehindAFailedNotificationIsStored() async throws {
        try await BinaryBridgeFixture.run { fixture in
            let first = try Self.frame(1) + Self.badToken + Self.frame(3)
            let response = try await fixture.exchange(first)
            #expect(Hexadecimal.encode(response) == "080500000002")
            // What was not processed comes again, on another connection.
            let again = try await fixture.exchange(try Self.frame(3))
            #expect(again.isEmpty)
            var sent = fixture.sent.makeAsyncIterator()
            for _ in 0..<2 { #expect(await sent.next() != nil) }
            let list = try await fixture.provider.api.get("/v1/apps/\(Vectors.bundleID)/notifications").json
            #expect(list["notifications"].elements.count == 2)
        }
    }

    /// A provider that closes early and reads nothing: what was before the rejected one is stored, and nothing behind it.
    @Test func whatAProviderSentBeforeItLeftIsStoredUnlessItIsBehindARejectedOne() async throws {
        try await BinaryBridgeFixture.run { fixture in
            let rejected = try await fixture.connect()
            try await rejected.send(try Self.frame(1) + Self.badToken + Self.frame(3))
            await rejected.close()
            let early = try await fixture.connect()
            // Each differs, so that none is a repetition of what a broken connection had stored.
            try await early.send((10..<110).flatMap { try Self.frame($0, payload: #"{"aps":{"badge":\#($0)}}"#) })
            await early.close()
            var sent = fixture.sent.makeAsyncIterator()
            for _ in 0..<101 { #expect(await sent.next() != nil) }
            // A connection that ends in order says that everything before is stored.
            let last = try await fixture.exchange(try Self.frame(200, payload: #"{"aps":{"badge":200}}"#))
            #expect(last.isEmpty)
            let list = try await fixture.provider.api.get("/v1/apps/\(Vectors.bundleID)/notifications?limit=200").json
            #expect(list["notifications"].elements.count == 102)
        }
    }

    @Test func whatABrokenConnectionHadStoredIsStoredOnce() async throws {
        try await BinaryBridgeFixture.run { fixture in
            // The provider dies in the middle of a notification, and sends all of them again.
            let response = try await fixture.exchange(
                try Self.frame(1) + Self.frame(2, token: Self.otherToken).dropLast()
            )
            #expect(Hexadecimal.encode(response) == "088000000000")
            let again = try await fixture.exchange(try Self.frame(1) + Self.frame(2, token: Self.otherToken))
            #expect(again.isEmpty)
            let list = try await fixture.provider.api.get("/v1/apps/\(Vectors.bundleID)/notifications").json
            #expect(list["notifications"].elements.count == 2)
            // A push that is equal to one before is another one from now on.
            let equal = try await fixture.exchange(try Self.frame(1))
            #expect(equal.isEmpty)
            let longer = try await fixture.provider.api.get("/v1/apps/\(Vectors.bundleID)/notifications").json
            #expect(longer["notifications"].elements.count == 3)
        }
    }

    @Test func aTokenThatIsGoneIsListedOnceAndToldOnce() async throws {
        try await BinaryBridgeFixture.run { fixture in
            let token = try #require(DeviceToken(hex: Vectors.tokenA))
            let gone = Timestamp(milliseconds: 1_699_999_999_500)
            fixture.service.script(
                token,
                .rejected(Rejection(status: 410, reasonText: "Unregistered", timestamp: gone))
            )
            let first = try await fixture.exchange(BinaryVector.framed.bytes)
            #expect(first.isEmpty)
            var list: [UInt8] = []
            while list.isEmpty { list = try await fixture.feedback() }
            #expect(Hexadecimal.encode(list) == "6553f0ff0020\(Vectors.tokenA)")
            // It is cleared once the reader has closed; until that is written, a reader waits for its turn.
            let second = try await fixture.feedback()
            #expect(second.isEmpty)
            let refused = try await fixture.exchange(try Self.frame(9))
            #expect(Hexadecimal.encode(refused) == "080800000009")
            let healed = try await fixture.exchange(try Self.frame(10))
            #expect(healed.isEmpty, "a provider that knows may have the token of a new registration")
            var sent = fixture.sent.makeAsyncIterator()
            for _ in 0..<2 { #expect(await sent.next()?.token == token) }
        }
    }

    @Test func aTokenOfAnInactiveDeviceIsRejected() async throws {
        try await BinaryBridgeFixture.run { fixture in
            let token = try #require(DeviceToken(hex: Vectors.tokenA))
            _ = try await fixture.provider.register(Vectors.tokenA)
            let gone = Timestamp(seconds: 1_700_000_001)
            fixture.service.script(
                token,
                .rejected(Rejection(status: 410, reasonText: "Unregistered", timestamp: gone))
            )
            let answer = try await fixture.provider.send([
                "to": ["tokens": [.string(Vectors.tokenA)]],
                "environment": "sandbox", "alert": "Hi",
            ])
            _ = try await fixture.provider.finished(answer)
            for identifier in 1...2 as ClosedRange<UInt32> {
                let refused = try await fixture.exchange(try Self.frame(identifier))
                #expect(Hexadecimal.encode(refused) == "08080000000\(identifier)")
            }
            // The device comes back.
            _ = try await fixture.provider.register(Vectors.tokenA)
            let taken = try await fixture.exchange(try Self.frame(3))
            #expect(taken.isEmpty)
        }
    }

    @Test func wakesHavePriority5() async throws {
        try await BinaryBridgeFixture.run { fixture in
            let wake = try Self.frame(1, payload: #"{"aps":{"content-available":1}}"#)
            let response = try await fixture.exchange(wake)
            #expect(response.isEmpty)
            var sent = fixture.sent.makeAsyncIterator()
            let push = try #require(await sent.next())
            #expect(push.notification.pushType == .background && push.notification.priority == .powerAware)
        }
    }

    @Test(arguments: [0, 1, 7, 255] as [UInt8]) func aPriorityWithoutAMeaningIs10(priority: UInt8) async throws {
        try await BinaryBridgeFixture.run { fixture in
            // It is the last byte of the vector.
            let response = try await fixture.exchange(BinaryVector.framed.bytes.dropLast() + [priority])
            #expect(response.isEmpty)
            var sent = fixture.sent.makeAsyncIterator()
            #expect(await sent.next()?.notification.priority == .immediate)
        }
    }

    @Test func fiveHundredGoOverOneConnectionInTheirOrder() async throws {
        try await BinaryBridgeFixture.run { fixture in
            let frames = try (1...500).flatMap { try Self.frame($0, payload: #"{"aps":{"badge":\#($0)}}"#) }
            let response = try await fixture.exchange(frames)
            #expect(response.isEmpty)
            var payloads: Set<String> = []
            for await push in fixture.sent {
                payloads.insert(String(buffer: push.notification.payload))
                if payloads.count == 500 { break }
            }
            #expect(fixture.service.sent.count == 500)
        }
    }

    @Test func aStrangersFirstNotificationGetsStatus3() async throws {
        try await BinaryBridgeFixture.run { fixture in
            let stranger = try PushCertificate()
            let response = try await fixture.exchange(try Self.frame(5) + Self.frame(6), stranger)
            #expect(Hexadecimal.encode(response) == "080300000005")
            await #expect(throws: (any Error).self) { try await fixture.feedback(stranger) }
            #expect(fixture.service.sent.isEmpty)
        }
    }

    @Test func strangersTakeNoPlacesOfProviders() async throws {
        try await BinaryBridgeFixture.run(configure: { $0.connections = 1 }) { fixture in
            let port = fixture.ports.binary ?? 0
            let (silent, other) = (try await RawConnection.open(port: port), try await RawConnection.open(port: port))
            let response = try await fixture.exchange(try Self.frame(1))
            #expect(response.isEmpty)
            var sent = fixture.sent.makeAsyncIterator()
            #expect(await sent.next() != nil)
            for connection in [silent, other] { await connection.close() }
        }
    }

    /// Before, the holder of one certificate could take all connections.
    @Test func aCertificateLeavesConnectionsToOthers() async throws {
        let other = try PushCertificate()
        let limits = BudgetLimits(.init(whole: .held(2), caller: .timesFree(1)))
        try await BinaryBridgeFixture.run(limits: [.bridgeConnections: limits]) { fixture in
            let path = "/v1/apps/\(Vectors.bundleID)/bridges/binary/\(Vectors.bundleID)"
            let certificates: [JSONValue] = [.string(fixture.certificate.fingerprint), .string(other.fingerprint)]
            let settings: JSONValue = ["certificates": .array(certificates)]
            let set = try await fixture.provider.api.put(path, ["environment": "sandbox", "settings": settings])
            #expect(set.status == 200)
            let first = try await fixture.connect()
            first.write(try Self.frame(1))
            var sent = fixture.sent.makeAsyncIterator()
            #expect(await sent.next() != nil)
            #expect(Hexadecimal.encode(try await fixture.exchange(try Self.frame(5))) == "080100000005")
            #expect(try await fixture.exchange(try Self.frame(6), other).isEmpty)
            await first.close()
            while try await !fixture.exchange(try Self.frame(7)).isEmpty { try Task.checkCancellation() }
        }
    }

    #if os(Linux)
    /// Strangers of one network exceed their rate, and none of them has shown a certificate.
    @Test func aNetworkThatHasShownACertificateHasARateOfItsOwn() async throws {
        let limits = BudgetLimits(.init(caller: .rate(perSecond: 0.001, burst: 2)))
        try await BinaryBridgeFixture.run(limits: [.strangerConnections: limits]) { fixture in
            var sent = fixture.sent.makeAsyncIterator()
            for number in 1...4 {
                let connection = try await fixture.connect(from: "127.0.0.2")
                connection.write(try Self.frame(UInt32(number)))
                #expect(await sent.next() != nil)
                await connection.close()
            }
            let port = try #require(fixture.ports.binary)
            let silent = [
                try await RawConnection.open(port: port, from: "127.0.0.3"),
                try await RawConnection.open(port: port, from: "127.0.0.3"),
            ]
            #expect(try await RawConnection.open(port: port, from: "127.0.0.3").readToEnd().isEmpty)
            for connection in silent { await connection.close() }
        }
    }
    #endif

    @Test func noOtherBridgeTakesACertificateAway() async throws {
        try await BinaryBridgeFixture.run { fixture in
            for other in ["com.example.Aaa", "com.example.Zzz"] {
                try await fixture.provider.api.post("/v1/apps", ["bundleId": .string(other)])
                try await fixture.provider.api.put(
                    "/v1/apps/\(other)/bridges/binary/\(other)",
                    [
                        "environment": "sandbox",
                        "settings": ["certificates": [.string(fixture.certificate.fingerprint)]],
                    ]
                )
            }
            let response = try await fixture.exchange(try Self.frame(1))
            #expect(response.isEmpty)
            var sent = fixture.sent.makeAsyncIterator()
            #expect(await sent.next()?.notification.topic.name == Vectors.bundleID)
        }
    }

    /// With an authority a topic is enough. A neighbour that took it before its app was added gets none of its pushes.
    @Test func aTopicIsOfItsAppAlone() async throws {
        let certificate = try PushCertificate(topic: "org.later")
        try await BinaryBridgeFixture.run(configure: { $0.authority = certificate.pem }) { fixture in
            let (api, app) = (fixture.provider.api, "/v1/apps/org.later")
            let neighbours = "/v1/apps/\(Vectors.bundleID)/bridges/binary/org.later"
            let sandbox: JSONValue = ["environment": "sandbox"]
            #expect(try await api.put(neighbours, sandbox).status == 200)
            let before = try await fixture.exchange(try Self.frame(1), certificate)
            #expect(before.isEmpty, "there is no such app")
            try await api.post("/v1/apps", ["bundleId": "org.later"])
            try await api.put(
                "\(app)/credentials/sandbox",
                [
                    "teamId": .string(Vectors.teamID), "keyId": .string(Vectors.keyID),
                    "privateKey": .string(Vectors.privateKey),
                ]
            )
            let refused = try await fixture.exchange(try Self.frame(2), certificate)
            #expect(Hexadecimal.encode(refused) == "080300000002")
            #expect(try await api.put(neighbours, sandbox).code == "name_taken")
            #expect(try await api.put("\(app)/bridges/binary/org.later", sandbox).status == 200)
            let own = try await fixture.exchange(try Self.frame(3, payload: #"{"aps":{"badge":3}}"#), certificate)
            #expect(own.isEmpty)
            #expect(try await api.get("\(app)/notifications").json["notifications"].elements.count == 1)
        }
    }

    @Test func aCertificateThatIsTakenOffCountsNoMore() async throws {
        try await BinaryBridgeFixture.run { fixture in
            let connection = try await fixture.connect()
            connection.write(try Self.frame(1))
            var sent = fixture.sent.makeAsyncIterator()
            #expect(await sent.next() != nil)
            let path = "/v1/apps/\(Vectors.bundleID)/bridges/binary/\(Vectors.bundleID)"
            #expect(try await fixture.provider.api.delete(path).status == 204)
            connection.write(try Self.frame(2))
            #expect(Hexadecimal.encode(await connection.readToEnd()) == "080300000002")
        }
    }

    @Test func aShutdownNamesTheLastOneThatIsStored() async throws {
        let received = AsyncStream<RawConnection>.makeStream()
        try await BinaryBridgeFixture.run { fixture in
            let connection = try await fixture.connect()
            connection.write(try Self.frame(7) + Self.frame(8))
            var sent = fixture.sent.makeAsyncIterator()
            for _ in 0..<2 { #expect(await sent.next() != nil) }
            received.continuation.yield(connection)
        }
        var connections = received.stream.makeAsyncIterator()
        let connection = try #require(await connections.next())
        #expect(Hexadecimal.encode(await connection.readToEnd()) == "080a00000008")
    }

    @Test(arguments: BinaryVector.bad) func malformedFramesGetTheirStatus(vector: BinaryVector) async throws {
        try await BinaryBridgeFixture.run(configure: { $0.isLenient = false }) { fixture in
            let response = try await fixture.exchange(vector.bytes)
            #expect(Hexadecimal.encode(response) == vector.response)
            #expect(fixture.service.sent.isEmpty)
        }
    }

    @Test func settingsThatCannotBeUsedAreRejected() async throws {
        try await BinaryBridgeFixture.run { fixture in
            let path = "/v1/apps/\(Vectors.bundleID)/bridges/binary"
            let noDigest = try await fixture.provider.api.put(
                "\(path)/\(Vectors.bundleID)",
                ["settings": ["certificates": ["abc"]]]
            )
            #expect(noDigest.status == 400 && noDigest.field == "settings.certificates[0]")
            let noTopic = try await fixture.provider.api.put("\(path)/a$b", ["settings": [:]])
            #expect(noTopic.status == 400)
            let unknown = try await fixture.provider.api.put(
                "\(path)/\(Vectors.bundleID)",
                ["settings": ["certificate": "x"]]
            )
            #expect(unknown.status == 400)
        }
    }
}
