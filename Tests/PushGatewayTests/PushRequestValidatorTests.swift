import Crypto
import Foundation
import NIOCore
import PushProtocol
import PushTesting
import Testing

@testable import PushGateway

/// The requests of reference 8.2 and 8.3, with their clock.
@Suite struct PushRequestValidatorTests {
    static let id = "eabeae54-14a8-11e5-b60b-1697f925ec7b"

    @Test func theVectorRequestIsAccepted() throws {
        let push = try Self.validate(Self.request())
        #expect(push.notification.id == Self.id)
        #expect(push.notification.topic.name == Vectors.bundleID)
        #expect(push.notification.pushType == .alert)
        #expect(push.notification.expiration == .immediate)
        #expect(push.device == Directory.device)
        #expect(String(buffer: push.notification.payload) == Vectors.payload)
    }

    @Test func aTokenOfAnotherLengthIsAccepted() throws {
        #expect(try Self.validate(Self.request([":path": "/3/device/\(Vectors.tokenC)"])).token.bytes.count == 54)
    }

    @Test(
        arguments: [
            ([":path": "/3/device/\(Directory.tokenB)"], Reason.deviceTokenNotForTopic),
            ([":path": "/3/device/zz"], .badDeviceToken),
            ([":path": "/3/device/00"], .badDeviceToken),
            ([":path": "/3/device/"], .missingDeviceToken),
            ([":path": "/2/device/\(Vectors.tokenA)"], .badPath),
            ([":method": "GET"], .methodNotAllowed),
            ([":method": "GET", ":path": "/"], .methodNotAllowed),
            (["apns-topic": nil], .missingTopic),
            (["apns-topic": "com example"], .badTopic),
            (["apns-topic": "com.example.Foreign"], .topicDisallowed),
            (["apns-topic": "com.example.Unknown"], .topicDisallowed),
            (["apns-priority": "7"], .badPriority),
            (["apns-priority": ""], .badPriority),
            (["apns-expiration": "soon"], .badExpirationDate),
            (["apns-expiration": "-1"], .badExpirationDate),
            (["apns-id": "42"], .badMessageId),
            (["apns-collapse-id": String(repeating: "é", count: 33)], .badCollapseId),
            (["apns-push-type": "alarm"], .invalidPushType),
            (["authorization": nil], .missingProviderToken),
            (["authorization": "bearer \(Vectors.providerTokenForged)"], .invalidProviderToken),
            (["authorization": "basic \(Vectors.providerToken)"], .invalidProviderToken),
            (["authorization": "bearer"], .invalidProviderToken),
        ] as [([String: String?], Reason)]
    )
    func aFaultHasItsReason(changes: [String: String?], reason: Reason) {
        #expect(Self.reason(Self.request(changes)) == reason)
    }

    @Test(arguments: ["1", "5", "10"])
    func everyDocumentedPriorityIsAccepted(priority: String) throws {
        let push = try Self.validate(Self.request(["apns-priority": priority]))
        #expect(String(push.notification.priority.rawValue) == priority)
    }

    @Test func aCollapseIDOfSixtyFourBytesIsAccepted() throws {
        let id = String(repeating: "é", count: 32)
        #expect(try Self.validate(Self.request(["apns-collapse-id": id])).notification.collapseID == id)
    }

    @Test func aTokenThatIsGoneIsUnregisteredSinceThen() {
        let refusal = Self.refusal(Self.request([":path": "/3/device/\(Directory.goneToken)"]))
        #expect(refusal?.reason == .unregistered)
        #expect(refusal?.timestamp == Timestamp(milliseconds: 1_699_999_999_500))
    }

    @Test func aRepeatedHeaderIsRefused() {
        let request = Self.request(extra: [("apns-topic", Vectors.bundleID)])
        #expect(Self.reason(request) == .duplicateHeaders)
    }

    @Test func anEmptyBodyIsRefused() {
        #expect(Self.reason(Self.request(body: Data())) == .payloadEmpty)
    }

    @Test(arguments: [
        (256, nil), (4096, nil), (4097, Reason.payloadTooLarge), (5121, .payloadTooLarge),
        (10_000_000, .payloadTooLarge),
    ])
    func theSizeLimitIsThatOfThePushType(size: Int, reason: Reason?) {
        #expect(Self.reason(Self.request(body: Self.body(size: size))) == reason)
    }

    @Test(arguments: [(4097, nil), (5120, nil), (5121, Reason.payloadTooLarge)])
    func voipMayBeLarger(size: Int, reason: Reason?) {
        let request = Self.request(
            [
                ":path": "/3/device/\(Directory.voipToken)", "apns-topic": "com.example.MyApp.voip",
                "apns-push-type": "voip",
            ],
            body: Self.body(size: size)
        )
        #expect(Self.reason(request) == reason)
    }

    @Test func aMultiByteTextIsCountedInBytes() throws {
        let body = Data(#"{"aps":{"alert":"\#(String(repeating: "é", count: 2038))"}}"#.utf8)
        #expect(body.count == 4096)
        _ = try Self.validate(Self.request(body: body))
    }

    @Test func methodAndPathAreCheckedBeforeAuthentication() {
        #expect(Self.reason(Self.request([":method": "GET", "authorization": nil])) == .methodNotAllowed)
        #expect(Self.reason(Self.request([":path": "/", "authorization": nil])) == .badPath)
    }

    @Test func theAnswerEchoesTheIDByteForByteOrNotAtAll() {
        let upper = Self.id.uppercased()
        #expect(PushRequestValidator.apnsID(of: Self.request(["apns-id": upper])) == upper)
        #expect(PushRequestValidator.apnsID(of: Self.request(["apns-id": "42"])) == nil)
    }

    // MARK: Making requests

    static func request(
        _ changes: [String: String?] = [:],
        extra: [(String, String)] = [],
        body: Data = Data(Vectors.payload.utf8)
    ) -> ProviderRequest {
        var fields: [String: String?] = [
            ":method": "POST", ":path": "/3/device/\(Vectors.tokenA)",
            "authorization": "bearer \(Vectors.providerToken)", "apns-topic": Vectors.bundleID,
            "apns-push-type": "alert", "apns-priority": "10", "apns-expiration": "0", "apns-id": Self.id,
        ]
        fields.merge(changes) { $1 }
        var request = ProviderRequest()
        for (name, value) in fields { if let value { request.add(name: name, value: value) } }
        for (name, value) in extra { request.add(name: name, value: value) }
        request.receive(ByteBuffer(bytes: body))
        return request
    }

    static func body(size: Int) -> Data {
        Data(#"{"aps":{"alert":""#.utf8) + Data(repeating: UInt8(ascii: "a"), count: size - 20) + Data(#""}}"#.utf8)
    }

    static func validate(_ request: ProviderRequest) throws -> AcceptedPush {
        var connection = ProviderConnection()
        let validator = PushRequestValidator(directory: Directory(), now: Vectors.issuedAt)
        return try validator.validate(request, connection: &connection, apnsID: Self.id)
    }

    static func refusal(_ request: ProviderRequest) -> PushRequestValidator.Refusal? {
        do {
            _ = try Self.validate(request)
            return nil
        } catch {
            return error as? PushRequestValidator.Refusal
        }
    }

    static func reason(_ request: ProviderRequest) -> Reason? { Self.refusal(request)?.reason }
}

/// The gateway's knowledge as section 8.2 sets it up.
private struct Directory: PushDirectory {
    static let device = UUID()
    static let tokenB = "2ca004c150548759e45a0c2ce605d028bec4f96268a707abb471d1de9056b203"
    static let goneToken = "0102"
    static let voipToken = "0304"

    func key(_ keyID: String) -> RegisteredKey? {
        let key = try? P256.Signing.PublicKey(pemRepresentation: Vectors.publicKey)
        guard keyID == Vectors.keyID, let key else { return nil }
        return RegisteredKey(teamID: Vectors.teamID, keyID: keyID, publicKey: Array(key.x963Representation))
    }

    func team(ofApp bundleID: Topic) -> String? {
        [Vectors.bundleID: Vectors.teamID, "com.example.Foreign": "OTHERTEAM1"][bundleID.name]
    }

    func status(of token: DeviceToken) -> TokenStatus {
        switch token.hex {
        case Vectors.tokenA, Vectors.tokenC: .active(device: Self.device, topic: Self.hash(Vectors.bundleID))
        case Self.tokenB: .active(device: Self.device, topic: Self.hash("com.example.Other"))
        case Self.voipToken: .active(device: Self.device, topic: Self.hash("com.example.MyApp.voip"))
        case Self.goneToken:
            .gone(
                device: Self.device,
                topic: Self.hash(Vectors.bundleID),
                since: Timestamp(milliseconds: 1_699_999_999_500)
            )
        default: .unknown
        }
    }

    private static func hash(_ name: String) -> TopicHash {
        Topic(name).map(TopicHash.init) ?? TopicHash(bytes: [UInt8](repeating: 0, count: 20))!
    }
}
