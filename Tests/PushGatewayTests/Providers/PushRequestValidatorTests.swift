import Crypto
import Foundation
import NIOCore
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushGateway

/// The requests of APNs reference 8.2 and 8.3, with their clock.
@Suite struct PushRequestValidatorTests {
    @Test func theVectorRequestIsAccepted() throws {
        let push = try Self.validate(TestRequest.push())
        #expect(push.notification.id == TestRequest.id)
        #expect(push.notification.topic.name == Vectors.bundleID)
        #expect(push.notification.pushType == .alert)
        #expect(push.notification.expiration == .immediate)
        #expect(push.device == TestDirectory.device)
        #expect(push.token.hex == Vectors.tokenA)
        #expect(String(buffer: push.notification.payload) == Vectors.payload)
    }

    @Test func aTokenOfAnotherLengthIsAcceptedInEitherLetterCase() throws {
        for token in [Vectors.tokenC, Vectors.tokenC.uppercased()] {
            #expect(try Self.validate(TestRequest.push([":path": "/3/device/\(token)"])).token.bytes.count == 54)
        }
    }

    @Test(
        arguments: [
            ([":path": "/3/device/\(TestDirectory.tokenB)"], Reason.deviceTokenNotForTopic),
            ([":path": "/3/device/zz"], .badDeviceToken),
            ([":path": "/3/device/00"], .badDeviceToken),
            ([":path": "/3/device/000"], .badDeviceToken),
            ([":path": "/3/device/\(String(repeating: "0", count: 2000))"], .badDeviceToken),
            ([":path": "/3/device/"], .missingDeviceToken),
            ([":path": "/2/device/\(Vectors.tokenA)"], .badPath),
            ([":method": "GET"], .methodNotAllowed),
            ([":method": "GET", ":path": "/"], .methodNotAllowed),
            (["apns-topic": nil], .missingTopic),
            (["apns-topic": ""], .missingTopic),
            (["apns-topic": "com example"], .badTopic),
            (["apns-topic": "com.example.Foreign"], .topicDisallowed),
            (["apns-topic": "com.example.Unknown"], .topicDisallowed),
            (["apns-priority": "7"], .badPriority),
            (["apns-priority": ""], .badPriority),
            (["apns-expiration": "soon"], .badExpirationDate),
            (["apns-expiration": "-1"], .badExpirationDate),
            (["apns-expiration": ""], .badExpirationDate),
            (["apns-id": "42"], .badMessageId),
            (["apns-id": "eabeae54x14a8-11e5-b60b-1697f925ec7b"], .badMessageId),
            (["apns-collapse-id": String(repeating: "é", count: 33)], .badCollapseId),
            (["apns-collapse-id": String(repeating: "a", count: 65)], .badCollapseId),
            (["apns-push-type": "alarm"], .invalidPushType),
            (["apns-push-type": "Alert"], .invalidPushType),
            (["authorization": nil], .missingProviderToken),
            (["authorization": "bearer \(Vectors.providerTokenForged)"], .invalidProviderToken),
            (["authorization": "basic \(Vectors.providerToken)"], .invalidProviderToken),
            (["authorization": "bearer"], .invalidProviderToken),
            (["authorization": ""], .invalidProviderToken),
        ] as [([String: String?], Reason)]
    )
    func aFaultHasItsReason(changes: [String: String?], reason: Reason) {
        for rules in [ProviderRules.lenient, .strict] {
            #expect(Self.reason(TestRequest.push(changes), rules) == reason)
        }
    }

    @Test(arguments: ["1", "5", "10"])
    func everyDocumentedPriorityIsAccepted(priority: String) throws {
        let push = try Self.validate(TestRequest.push(["apns-priority": priority]))
        #expect(String(push.notification.priority.rawValue) == priority)
    }

    @Test(arguments: [String(repeating: "é", count: 32), String(repeating: "a", count: 64)])
    func aCollapseIDOfSixtyFourBytesIsAccepted(id: String) throws {
        #expect(try Self.validate(TestRequest.push(["apns-collapse-id": id])).notification.collapseID == id)
    }

    @Test func aTokenThatIsGoneIsUnregisteredSinceThen() {
        let rejection = Self.error(TestRequest.push([":path": "/3/device/\(TestDirectory.goneToken)"]))
        #expect(rejection?.reason == .unregistered)
        #expect(rejection?.token?.since == TestDirectory.removal)
        #expect(rejection?.token?.device == TestDirectory.device)
        #expect(rejection?.token?.token.hex == TestDirectory.goneToken)
    }

    @Test func aRepeatedHeaderIsRejected() {
        let request = TestRequest.push(extra: [("apns-topic", Vectors.bundleID)])
        #expect(Self.reason(request) == .duplicateHeaders)
    }

    @Test func anEmptyBodyIsRejected() {
        #expect(Self.reason(TestRequest.push(body: Data())) == .payloadEmpty)
    }

    @Test(arguments: [
        (256, "6b607cfb01fe99d8d3fd4ceb4c00b6ad0a276d3623b9a66a479c5ee94ea4fe3f", nil, nil),
        (4096, "facfadcf1e94140d936d6f0f587aa673d360eef43f2aab57d58e6ee35e0ef0a8", nil, nil),
        (4097, "920e411527c2b583b1b7dc31d869dc05bb997b2e55dd738f9699d9e22c4290d5", Reason.payloadTooLarge, nil),
        (5120, "7a6b2fc2cead5926d83d06e15ef13cadbc9fe7a8fcda20c30dc1bb1dfa73181e", .payloadTooLarge, nil),
        (
            5121, "fe8891676c56b427c269bd455789ffa9406a16d89ce6c4f8b1a25b2e8de13eca", .payloadTooLarge,
            Reason.payloadTooLarge
        ),
    ])
    func theSizeLimitIsThatOfThePushType(size: Int, digest: String, alert: Reason?, voip: Reason?) {
        let body = TestRequest.body(size: size)
        #expect(Hexadecimal.encode(SHA256.hash(data: body)) == digest)
        #expect(Self.reason(TestRequest.push(body: body)) == alert)
        for type in ["voip", nil] {
            let call = TestRequest.push(
                [
                    ":path": "/3/device/\(TestDirectory.voipToken)", "apns-topic": "com.example.MyApp.voip",
                    "apns-push-type": type,
                ],
                body: body
            )
            #expect(Self.reason(call) == voip, "the suffix says it too")
        }
    }

    @Test func aMultiByteTextIsCountedInBytes() throws {
        let body = Data(#"{"aps":{"alert":"\#(String(repeating: "é", count: 2038))"}}"#.utf8)
        #expect(body.count == 4096)
        _ = try Self.validate(TestRequest.push(body: body))
    }

    @Test func theFirstFaultInTheOrderOfTheReferenceIsReported() throws {
        var changes: [String: String?] = [
            ":method": "GET", ":path": "/2", "authorization": nil, "apns-topic": nil, "apns-id": "42",
            "apns-expiration": "x", "apns-priority": "x", "apns-push-type": "x",
            "apns-collapse-id": String(repeating: "a", count: 65),
        ]
        var body = Data()
        func expect(_ reason: Reason, then correct: String...) {
            #expect(Self.reason(TestRequest.push(changes, body: body)) == reason)
            for name in correct { changes.removeValue(forKey: name) }
        }
        expect(.methodNotAllowed, then: ":method")
        expect(.badPath, then: ":path")
        changes[":path"] = "/3/device/zz"
        expect(.missingProviderToken, then: "authorization")
        expect(.missingTopic, then: "apns-topic")
        expect(.badMessageId, then: "apns-id")
        expect(.badExpirationDate, then: "apns-expiration")
        expect(.badPriority, then: "apns-priority")
        expect(.invalidPushType, then: "apns-push-type")
        expect(.badCollapseId, then: "apns-collapse-id")
        expect(.badDeviceToken)
        changes[":path"] = "/3/device/\(TestDirectory.goneToken)"
        expect(.unregistered)
        changes[":path"] = "/3/device/\(TestDirectory.tokenB)"
        expect(.deviceTokenNotForTopic, then: ":path")
        expect(.payloadEmpty)
        body = TestRequest.body(size: 4097)
        expect(.payloadTooLarge)
    }

    // MARK: Pushes that only wake the app

    @Test(arguments: [
        ("background", "10", Reason.badPriority), ("background", nil, nil), ("background", "5", nil),
        ("alert", "10", .badPriority), (nil, "10", .badPriority), (nil, nil, nil), ("voip", "10", nil),
    ])
    func askingForAnImmediateWakeIsAFaultOnlyForTheStrict(type: String?, priority: String?, strict: Reason?) throws {
        let isCall = type == "voip"
        let request = TestRequest.push(
            [
                "apns-push-type": type, "apns-priority": priority,
                ":path": "/3/device/\(isCall ? TestDirectory.voipToken : Vectors.tokenA)",
                "apns-topic": isCall ? "com.example.MyApp.voip" : Vectors.bundleID,
            ],
            body: Data(#"{"aps":{"content-available":1},"id":"a-b"}"#.utf8)
        )
        #expect(Self.reason(request, .strict) == strict)
        #expect(try Self.validate(request).notification.priority == (isCall ? .immediate : .powerAware))
    }

    @Test(arguments: [
        #"{"aps":{"content-available":1,"alert":"Hi"}}"#, #"{"aps":{"content-available":0}}"#,
        #"{"content-available":1}"#, #"{"aps":{"alert":"content-available"}}"#, "content-available", "-", "a-b-c",
        #"{"aps":{"mutable-content":1,"thread-id":"content-available"#,
    ])
    func whatShowsSomethingMayBeImmediate(payload: String) throws {
        let request = TestRequest.push(body: Data(payload.utf8))
        #expect(try Self.validate(request).notification.priority == .immediate)
    }

    // MARK: Strict rules

    @Test(arguments: ["x", "[]", "5", #""text""#, #"{"aps":"#])
    func aPayloadThatIsNoObjectIsRejectedByTheStrict(payload: String) {
        let request = TestRequest.push(body: Data(payload.utf8))
        #expect(Self.reason(request, .strict) == .badRequestPayload)
        #expect(Self.reason(request) == nil)
    }

    @Test(arguments: [
        ("voip", Vectors.bundleID, Vectors.tokenA), ("alert", "com.example.MyApp.voip", TestDirectory.voipToken),
        ("complication", "com.example.MyApp.voip", TestDirectory.voipToken), ("mdm", Vectors.bundleID, Vectors.tokenA),
    ])
    func aTypeOfAnotherSuffixIsRejectedByTheStrict(type: String, topic: String, token: String) {
        let request = TestRequest.push([":path": "/3/device/\(token)", "apns-topic": topic, "apns-push-type": type])
        #expect(Self.reason(request, .strict) == .topicDisallowed)
        #expect(Self.reason(request) == nil)
    }

    @Test func everyTypeHasItsTopic() throws {
        let certificate = try Self.certificate(["com.example.MyApp.voip", TestDirectory.managementTopic])
        let call = TestRequest.push([
            ":path": "/3/device/\(TestDirectory.voipToken)", "apns-topic": "com.example.MyApp.voip",
            "apns-push-type": "voip",
        ])
        #expect(Self.reason(call, .strict, certificate: certificate) == nil)
        let management = TestRequest.push(
            [
                ":path": "/3/device/\(TestDirectory.managementToken)", "apns-topic": TestDirectory.managementTopic,
                "apns-push-type": "mdm",
            ],
            body: Data(#"{"mdm":"magic"}"#.utf8)
        )
        #expect(Self.reason(management, .strict, certificate: certificate) == nil)
    }

    @Test func someTypesAreForTokensOnly() throws {
        let topic = "com.example.MyApp.location-query"
        let certificate = try Self.certificate([topic])
        for type in ["location", nil] {
            let request = TestRequest.push(["apns-topic": topic, "apns-push-type": type])
            #expect(Self.reason(request, .strict, certificate: certificate) == .topicDisallowed)
            #expect(Self.reason(request, certificate: certificate) == .deviceTokenNotForTopic, "it got further")
        }
    }

    @Test func aDeviceGetsOnlySoManyPushes() throws {
        var rules = ProviderRules.lenient
        rules.deviceRate = .init(requests: 2, window: .seconds(10))
        var connection = ConnectionAuthentication(environment: .sandbox)
        let validator = PushRequestValidator(
            directory: try TestDirectory(),
            rules: rules,
            limiter: rules.deviceRate.map { DeviceRateLimiter($0) }
        )
        func reason(_ request: ProviderRequest, after seconds: Int) -> Reason? {
            Self.reason(validator, request, &connection, Vectors.issuedAt.advanced(by: .seconds(seconds)))
        }
        #expect(reason(TestRequest.push(), after: 0) == nil)
        #expect(reason(TestRequest.push(body: Data()), after: 0) == .payloadEmpty, "counts for nothing")
        #expect(reason(TestRequest.push(), after: 1) == nil)
        #expect(reason(TestRequest.push(), after: 1) == .tooManyRequests)
        #expect(reason(TestRequest.push(), after: 6) == nil, "one has come back in five seconds")
        #expect(reason(TestRequest.push(), after: 6) == .tooManyRequests)
    }

    // MARK: Certificates

    @Test func aCertificateOfOneTopicNeedsNoHeader() throws {
        let one = try Self.certificate([Vectors.bundleID])
        let request = TestRequest.push(["apns-topic": nil, "authorization": nil])
        #expect(Self.reason(request, certificate: one) == nil)
        let ignored = TestRequest.push(["authorization": "bearer \(Vectors.providerTokenForged)"])
        #expect(Self.reason(ignored, certificate: one) == nil, "with a certificate a token is ignored")
        let two = try Self.certificate([Vectors.bundleID, "com.example.MyApp.voip"])
        #expect(Self.reason(request, certificate: two) == .missingTopic)
        #expect(Self.reason(TestRequest.push(["authorization": nil]), certificate: two) == nil)
        let other = TestRequest.push([":path": "/3/device/\(TestDirectory.tokenB)", "apns-topic": "com.example.Other"])
        #expect(Self.reason(other, certificate: two) == .topicDisallowed)
    }

    // MARK: Requests

    static func certificate(_ topics: [String]) throws -> CertificateIdentity {
        let topics = topics.compactMap { Topic($0) }
        return CertificateIdentity(
            serial: "01",
            environments: [.sandbox],
            defaultTopic: try #require(topics.first),
            topics: Set(topics)
        )
    }

    static func validate(
        _ request: ProviderRequest,
        _ rules: ProviderRules = .lenient,
        certificate: CertificateIdentity? = nil
    ) throws -> AcceptedPush {
        var connection = ConnectionAuthentication(environment: .sandbox, certificate: certificate)
        let validator = PushRequestValidator(directory: try TestDirectory(), rules: rules, limiter: nil)
        return try validator.validate(
            request,
            path: ProviderPath(request.path),
            authentication: &connection,
            apnsID: TestRequest.id,
            now: Vectors.issuedAt
        )
    }

    static func error(
        _ request: ProviderRequest,
        _ rules: ProviderRules = .lenient,
        certificate: CertificateIdentity? = nil
    ) -> ProviderRejection? {
        do {
            _ = try Self.validate(request, rules, certificate: certificate)
            return nil
        } catch {
            return error as? ProviderRejection
        }
    }

    static func reason(
        _ request: ProviderRequest,
        _ rules: ProviderRules = .lenient,
        certificate: CertificateIdentity? = nil
    ) -> Reason? {
        Self.error(request, rules, certificate: certificate)?.reason
    }

    private static func reason(
        _ validator: PushRequestValidator,
        _ request: ProviderRequest,
        _ connection: inout ConnectionAuthentication,
        _ now: Timestamp
    ) -> Reason? {
        do throws(ProviderRejection) {
            _ = try validator.validate(
                request,
                path: ProviderPath(request.path),
                authentication: &connection,
                apnsID: TestRequest.id,
                now: now
            )
            return nil
        } catch {
            return error.reason
        }
    }
}
