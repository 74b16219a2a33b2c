import NIOCore
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushGateway

/// The checks of a notification (APNs reference 5.1, 5.2 and 5.3.9).
@Suite struct BinaryListenerTests {
    @Test func aGoodNotificationIsAboutTheCertificatesTopic() throws {
        let push = try #require(Self.submitted(Vectors.tokenA))
        #expect(push.notification.topic.name == Vectors.bundleID)
        #expect(push.topicHash == LegacyFixtures.hash(Vectors.bundleID))
        #expect(push.device == LegacyFixtures.device)
        #expect(push.token.hex == Vectors.tokenA)
        #expect(push.notification.pushType == nil)
        #expect(push.notification.collapseID == nil)
        let another = try #require(Self.submitted(Vectors.tokenA))
        #expect(push.notification.id != another.notification.id)
        #expect(push.notification.id.utf8.count == 36)
    }

    @Test(arguments: [LegacyFixtures.foreignToken, String(repeating: "00", count: 32)])
    func aTokenOfAnotherAppAndOneNeverMintedAreInvalid(token: String) {
        #expect(Self.evaluation(token) == .reject(.invalidToken))
    }

    @Test func anInactiveTokenIsNotAnErrorAndIsReported() {
        let submitter = TestSubmitter()
        #expect(Self.evaluation(LegacyFixtures.goneToken, submitter: submitter) == .accepted)
        #expect(submitter.gone == [LegacyFixtures.goneToken])
    }

    @Test func anInactiveTokenOfAnotherAppIsNotReported() {
        let submitter = TestSubmitter()
        let identity = LegacyFixtures.identity(topics: ["com.example.Other"])
        #expect(
            Self.evaluation(LegacyFixtures.goneToken, submitter: submitter, identity: identity)
                == .reject(.invalidToken)
        )
        #expect(submitter.gone.isEmpty)
    }

    @Test(
        arguments: [(nil, .servicePolicy), (0, .immediate), (1_700_003_600, .at(seconds: 1_700_003_600))]
            as [(UInt32?, Expiration)]
    )
    func expirationIsRead(field: UInt32?, expiration: Expiration) {
        #expect(Self.submitted(Vectors.tokenA, expiration: field)?.notification.expiration == expiration)
    }

    /// Only asking for priority 10 can be an error: commands 0 and 1 cannot ask.
    @Test(
        arguments: [
            (#"{"aps":{"content-available":1}}"#, nil, .powerAware, .powerAware),
            (#"{"aps":{"content-available":1}}"#, .immediate, .powerAware, nil),
            (#"{"aps":{"content-available":1}}"#, .powerAware, .powerAware, .powerAware),
            (#"{"aps":{"content-available":1,"badge":0}}"#, .immediate, .immediate, .immediate),
            (#"{"aps":{"content-available":0}}"#, .immediate, .immediate, .immediate),
            (#"{"aps":{"alert":"content-available"}}"#, nil, .immediate, .immediate),
            (#"{"content-available":1}"#, nil, .immediate, .immediate),
            (#"content-available"#, .immediate, .immediate, .immediate),
            (Vectors.payload, .powerAware, .powerAware, .powerAware),
        ] as [(String, Priority?, Priority?, Priority?)]
    )
    func aPushThatOnlyWakesIsNotImmediate(payload: String, asked: Priority?, lenient: Priority?, strict: Priority?) {
        #expect(Self.submitted(Vectors.tokenA, payload, priority: asked)?.notification.priority == lenient)
        #expect(
            Self.submitted(Vectors.tokenA, payload, priority: asked, isStrict: true)?.notification.priority == strict
        )
        if strict == nil {
            let evaluation = Self.evaluation(Vectors.tokenA, payload, priority: asked, isStrict: true)
            #expect(evaluation == .reject(.protocolError))
        }
    }

    @Test func aCertificateOfTheOtherEnvironmentIsRejected() {
        let identity = LegacyFixtures.identity(environments: [.production])
        let check = LegacyFixtures.certificates(.success(identity))
        #expect(check.identity(of: [1]) == .failure(.badCertificateEnvironment))
        #expect(check.identity(of: nil) == .failure(.badCertificate))
        let universal = LegacyFixtures.identity(environments: [.production, .sandbox])
        #expect(LegacyFixtures.certificates(.success(universal)).identity(of: [1]) == .success(universal))
    }

    private static func evaluation(
        _ token: String,
        _ payload: String = Vectors.payload,
        expiration: UInt32? = nil,
        priority: Priority? = nil,
        isStrict: Bool = false,
        submitter: TestSubmitter = TestSubmitter(),
        identity: CertificateIdentity = LegacyFixtures.identity()
    ) -> BinaryListener.Evaluation {
        let listener = LegacyFixtures.listener(submitter, identity: .success(identity), isStrict: isStrict)
        let notification = BinaryNotification(
            token: Hexadecimal.decode(token) ?? [],
            payload: ByteBuffer(string: payload),
            expiration: expiration,
            priority: priority
        )
        return listener.evaluate(notification, from: identity)
    }

    private static func submitted(
        _ token: String,
        _ payload: String = Vectors.payload,
        expiration: UInt32? = nil,
        priority: Priority? = nil,
        isStrict: Bool = false
    ) -> AcceptedPush? {
        let evaluation = self.evaluation(token, payload, expiration: expiration, priority: priority, isStrict: isStrict)
        if case .submit(let push, _) = evaluation { return push }
        return nil
    }
}
