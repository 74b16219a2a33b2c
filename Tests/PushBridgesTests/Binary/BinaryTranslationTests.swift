import Foundation
import NIOCore
import ProviderModel
import PushProvider
import PushStore
import PushSupport
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushBridges

/// Notifications of the binary protocol as requests (docs/bridges-legacy.md).
@Suite struct BinaryTranslationTests {
    private func client(_ topic: String = Vectors.bundleID) throws -> BinaryClient {
        BinaryClient(
            bridge: topic,
            app: 1,
            topic: try #require(Topic(topic)),
            environment: .sandbox,
            certificateTopic: nil,
            fingerprint: "",
            dropsRepeats: true
        )
    }

    private func request(_ notification: BinaryNotification, topic: String = Vectors.bundleID) throws
        -> NotificationRequest
    {
        try BinaryTranslation.request(notification, from: self.client(topic)).get()
    }

    private func notification(_ payload: String, priority: Priority? = nil, expiration: UInt32? = nil) throws
        -> BinaryNotification
    {
        BinaryNotification(
            token: try #require(Hexadecimal.decode(Vectors.tokenA)),
            payload: ByteBuffer(string: payload),
            identifier: 7,
            expiration: expiration,
            priority: priority
        )
    }

    @Test func theFramedVectorIsTheRequestOfItsFields() throws {
        var bytes = ByteBuffer(bytes: BinaryVector.framed.bytes)
        let frame = try #require(try BinaryFrame.read(from: &bytes))
        let request = try self.request(frame.notification)
        let token = try #require(DeviceToken(hex: Vectors.tokenA))
        #expect(request.audience == .tokens([token]))
        #expect(request.environment == .sandbox)
        let content = request.content
        #expect(content.topic.name == Vectors.bundleID)
        #expect(content.pushType == .alert && content.priority == .immediate)
        #expect(content.expiration == .at(seconds: 1_700_003_600) && content.expiresIn == nil)
        #expect(content.collapseID == nil)
        #expect(content.payload == Data(Vectors.payload.utf8), "the bytes are unchanged")
        #expect(!content.isTemplate)
    }

    @Test(arguments: [Priority?.none, .immediate, .powerAware])
    func aWakeIsABackgroundPushOfPriority5(priority: Priority?) throws {
        let content = try self.request(self.notification(#"{"aps":{"content-available":1}}"#, priority: priority))
            .content
        #expect(content.pushType == .background && content.priority == .powerAware)
    }

    @Test(arguments: [
        (#"{"aps":{"content-available":1,"sound":"default"}}"#, Vectors.bundleID, PushType.alert),
        (#"{"aps":{"badge":3}}"#, Vectors.bundleID, .alert), (#"{}"#, Vectors.bundleID, .alert),
        (#"{"x":1}"#, Vectors.bundleID, .alert), (#"{"mdm":"magic"}"#, "com.apple.mgmt.External.1", .mdm),
        (#"{}"#, "pass.com.example.coupon", .background), (#"{"aps":{}}"#, "\(Vectors.bundleID).voip", .voip),
        (#"{"aps":{}}"#, "\(Vectors.bundleID).complication", .complication),
    ])
    func thePushTypeFollowsFromPayloadAndTopic(payload: String, topic: String, type: PushType) throws {
        let content = try self.request(self.notification(payload), topic: topic).content
        #expect(content.pushType == type)
        #expect(content.tokenKind == type.tokenKind())
        #expect(content.topic.name == topic)
    }

    @Test func expirationsAreThoseOfTheFieldOrADay() throws {
        let payload = Vectors.payload
        #expect(try self.request(self.notification(payload, expiration: 0)).content.expiration == .immediate)
        let past = try self.request(self.notification(payload, expiration: 5)).content
        #expect(past.expiration == .at(seconds: 5))
        let absent = try self.request(self.notification(payload)).content
        #expect(absent.expiration == .servicePolicy && absent.expiresIn == 86_400)
    }

    @Test func aFaultOfTheBridgeIsNotOneOfTheCertificate() {
        #expect(BinaryClientRejection.noCertificate.status == .missingTopic)
        #expect(BinaryClientRejection.cannotSend(.sandbox, reason: "").status == .missingTopic)
        #expect(BinaryClientRejection.unavailable("disk full").status == .processingError, "it may come again")
    }

    @Test(arguments: ["", "[0]", "\"text\"", "{", #"{"aps":"# + "\u{0}}", "\u{1F4A9}"])
    func whatIsNoObjectIsRejected(payload: String) throws {
        let result = BinaryTranslation.request(try self.notification(payload), from: try self.client())
        #expect(throws: BinaryTranslation.Rejection(status: .missingPayload)) { try result.get() }
    }
}
