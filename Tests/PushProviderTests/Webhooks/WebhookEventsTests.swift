import Foundation
import ProviderModel
import PushTesting
import PushTypes
import Testing

@testable import PushProvider
@testable import PushStore

@Suite struct WebhookEventsTests {
    let notification = UUID()
    let now = Timestamp(milliseconds: 1_700_000_000_123)

    @Test func aDeliveryEventNamesRecipientAndOutcome() throws {
        var events = WebhookEventEncoder(expected: 2)
        self.append(to: &events, device: 7, reason: nil, user: "ann")
        self.append(to: &events, device: nil, reason: "BadDeviceToken", user: nil)
        let objects = try self.objects(in: events)
        #expect(events.count == 2)
        let first = try #require(objects.first)
        #expect(first["id"] as? String == "the-id.accepted")
        #expect(first["type"] as? String == "delivery")
        #expect(first["at"] as? Int64 == 1_700_000_000_123)
        #expect(first["notification"] as? String == self.notification.uuidString)
        #expect(first["apnsId"] as? String == "the-id")
        #expect(first["deviceId"] as? Int64 == 7)
        #expect(first["user"] as? String == "ann")
        #expect(first["token"] as? String == DeviceToken.numbered(1).hex)
        #expect(first["environment"] as? String == "production")
        #expect(first["state"] as? String == "accepted")
        #expect(first["reason"] is NSNull)
        #expect(first["attempts"] as? Int == 3)
        #expect(objects.last?["deviceId"] is NSNull)
        #expect(objects.last?["user"] is NSNull)
        #expect(objects.last?["reason"] as? String == "BadDeviceToken")
    }

    @Test func aTokenEventKeepsItsIDAndDiffersFromOthers() throws {
        var events = WebhookEventEncoder()
        events.append(self.token(.deactivated))
        events.append(self.token(.deactivated))
        events.append(self.token(.moved))
        let objects = try self.objects(in: events)
        let ids = objects.compactMap { $0["id"] as? String }
        #expect(ids.count == 3)
        #expect(Set(ids).count == 2)
        #expect(ids[0] == ids[1])
        #expect(objects[2]["type"] as? String == "token")
        #expect(objects[2]["action"] as? String == "moved")
        #expect(objects[2]["token"] as? String == DeviceToken.numbered(1).hex)
        #expect(objects[2]["environment"] as? String == "sandbox")
        #expect(objects[2]["reason"] as? String == "Unregistered")
        #expect(objects[2]["notification"] as? String == self.notification.uuidString)
        #expect(objects[2]["deviceId"] as? Int == 7)
    }

    @Test(arguments: [
        #"quote " and backslash \"#, "line\nfeed\r\ttab", "\u{0}\u{1}\u{1f}\u{7f}", "größe 🦅 \u{2028}",
        #"\u0041","x":"#, "",
    ])
    func anyTextSurvives(text: String) throws {
        var events = WebhookEventEncoder()
        self.append(to: &events, device: 1, reason: text, user: text)
        let object = try #require(try self.objects(in: events).first)
        #expect(object["reason"] as? String == text)
        #expect(object["user"] as? String == text)
    }

    @Test func unknownRecipientsHaveNoToken() throws {
        var events = WebhookEventEncoder(expected: .max)
        #expect(events.isEmpty)
        let delivery = DeliveryResult(
            recipient: 7,
            device: 7,
            state: .failed,
            reason: "gone",
            attempts: 1,
            at: .init(seconds: 1)
        )
        events.append(delivery, apnsID: "id", to: nil, notification: UUID())
        let object = try #require(try self.objects(in: events).first)
        #expect(object["deviceId"] as? Int == 7)
        for name in ["token", "environment", "user"] { #expect(object[name] is NSNull) }
    }

    private func append(to events: inout WebhookEventEncoder, device: Int64?, reason: String?, user: String?) {
        var recipient = Recipient(id: 1, device: device, token: .numbered(1), environment: .production)
        recipient.profile = RecipientProfile()
        recipient.profile?.user = user
        let delivery = DeliveryResult(
            recipient: 1,
            device: device,
            state: .accepted,
            reason: reason,
            attempts: 3,
            at: self.now
        )
        events.append(delivery, apnsID: "the-id", to: recipient, notification: self.notification)
    }

    private func token(_ action: TokenEventRecord.Action) -> TokenEventRecord {
        TokenEventRecord(
            id: 1,
            app: 1,
            device: 7,
            token: .numbered(1),
            environment: .sandbox,
            action: action,
            reason: "Unregistered",
            notification: self.notification,
            at: self.now
        )
    }

    private func objects(in events: WebhookEventEncoder) throws -> [[String: Any]] {
        let text = Data("[".utf8) + events.data + Data("]".utf8)
        return try #require(try JSONSerialization.jsonObject(with: text) as? [[String: Any]])
    }
}
