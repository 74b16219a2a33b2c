import Foundation
import ProviderModel
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider
@testable import PushStore

/// At most once: a page that is begun knows the recipients to which no push goes, also after a crash, and has their time.
@Suite(.timeLimit(.patience)) struct BegunPageTests {
    /// Makes a notification to a token of another kind, to one that cannot be read, and to one that is sent to.
    private static func accept(_ fixture: DispatchFixture, _ store: SQLStore) async throws -> NotificationRecord {
        var webhook = WebhookRecord.fixture(port: 1)
        webhook.app = fixture.app
        webhook.events = [.delivery]
        try await fixture.store.addWebhook(webhook)
        try await fixture.register(1...1)
        try await fixture.register(3...3)
        let tokens: JSONValue = .array((1...3).map { .string(DeviceToken.numbered($0).hex) })
        let notification = try await fixture.accept([
            "guarantee": "atMostOnce", "to": ["tokens": tokens], "environment": "sandbox",
        ])
        // Its kind is not known before.
        try await fixture.register(2...2) { $0.kind = .voip }
        try await store.database.run(sql: "UPDATE target SET environment = 5 WHERE position = 3")
        return notification
    }

    /// Returns the states by the recipients' positions.
    private static func states(_ fixture: DispatchFixture, _ notification: NotificationRecord) async throws
        -> [Int64: DeliveryRecord.State]
    {
        let deliveries = try await fixture.deliveries(of: notification)
        return Dictionary(uniqueKeysWithValues: deliveries.map { (-$0.recipient, $0.state) })
    }

    /// Returns the states of the events for webhooks.
    private static func events(_ fixture: DispatchFixture) async throws -> [String] {
        let blocks = try await fixture.store.eventBlocks(app: fixture.app, kinds: [.delivery], after: 0, limit: 100)
        let text = blocks.map { String(decoding: $0.events, as: UTF8.self) }.joined(separator: ",")
        return try JSONValue(parsing: Data("[\(text)]".utf8)).elements.compactMap { $0["state"].stringValue }.sorted()
    }

    @Test(arguments: StoreBackend.available, [false, true])
    func endedRecipientsHaveTheirStateWhileTheOthersAreSentTo(backend: StoreBackend, crashes: Bool) async throws {
        try await DispatchFixture.run(backend) { fixture in
            guard let store = fixture.store as? SQLStore else { return }
            let notification = try await Self.accept(fixture, store)
            fixture.whileSending { () async throws -> Void in
                let begun: [Int64: DeliveryRecord.State] = [1: .sending, 2: .skipped, 3: .failed]
                #expect(try await Self.states(fixture, notification) == begun)
                #expect(try await Self.events(fixture) == ["failed", "skipped"])
                if crashes { #expect(try await store.recover(now: fixture.time.steady) == 1) }
            }
            try await fixture.settle()
            let sent = crashes ? DeliveryRecord.State.unknown : .accepted
            #expect(try await Self.states(fixture, notification) == [1: sent, 2: .skipped, 3: .failed])
            #expect(try await Self.events(fixture) == ["failed", "skipped", sent.word].sorted())
            let (accepted, unknown) = crashes ? (0, 1) : (1, 0)
            try await store.expect(notification, .done, accepted: accepted, failed: 1, skipped: 1, unknown: unknown)
            let reasons = try await fixture.deliveries(of: notification).compactMap(\.reason)
            #expect(reasons.contains(EndingCause.otherKind.rawValue))
            #expect(reasons.contains(EndingCause.unreadable.rawValue))
            let counts = try await store.skipCounts(of: notification.id)
            #expect(counts == [SkipCount(reason: EndingCause.otherKind.rawValue, count: 1)])
            #expect(try await store.checkIntegrity().isEmpty)
        }
    }

    /// The page of a recipient is found, whatever became of the others of it.
    @Test(arguments: ["atLeastOnce", "atMostOnce"], [1, 2])
    func aSkippedRecipientHasATimeline(guarantee: String, devices: Int) async throws {
        try await DispatchFixture.run(StoreBackend.available[0]) { fixture in
            try await fixture.register(1...1) { $0.preferences = .set(Preferences(optOuts: ["marketing"])) }
            if devices > 1 { try await fixture.register(2...2) }
            let notification = try await fixture.accept([
                "guarantee": .string(guarantee), "consentCategory": "marketing",
            ])
            // The others are sent to a little later than the first write of the page.
            fixture.whileSending { fixture.time.advance(by: .seconds(2)) }
            try await fixture.settle()
            try await fixture.store.expect(notification, .done, accepted: devices - 1, skipped: 1)
            let delivery = try #require(
                try await fixture.deliveries(of: notification).first { $0.state == .skipped }
            )
            let reader = TimelineReader(store: fixture.store, gateway: nil, faults: nil, time: fixture.time)
            let key = RecipientKey(notification: notification.id, recipient: delivery.recipient)
            let timeline = try #require(try await reader.timelines(of: [key]).first)
            #expect(timeline.notes.isEmpty)
            #expect(timeline.steps.suffix(3).map(\.event) == [.claimed, .ended, .committed])
            let end = try #require(timeline.steps.first { $0.event == .ended })
            #expect(end.source == .provider && end.at == delivery.at)
            #expect(end.text == "skipped: opted out of marketing")
            let progress = try await fixture.progress(of: notification)
            let whole = try #require(try await reader.timeline(of: progress))
            #expect(whole.notes.isEmpty)
        }
    }

    /// A page of retries whose only device is gone.
    @Test(arguments: StoreBackend.available, ["atLeastOnce", "atMostOnce"])
    func aRemovedRecipientHasATimeline(backend: StoreBackend, guarantee: String) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            fixture.sender.script(.numbered(1), .notSent(.init("no connection")))
            let notification = try await fixture.accept(["guarantee": .string(guarantee)])
            try await fixture.settle()
            try await fixture.delete(1)
            try await fixture.settle(after: .seconds(3600))
            let delivery = try #require(try await fixture.deliveries(of: notification).first)
            #expect(delivery.reason == EndingCause.deviceRemoved.rawValue)
            let reader = TimelineReader(store: fixture.store, gateway: nil, faults: nil, time: fixture.time)
            let key = RecipientKey(notification: notification.id, recipient: delivery.recipient)
            let timeline = try #require(try await reader.timelines(of: [key]).first)
            #expect(timeline.notes.isEmpty)
            let end = try #require(timeline.steps.last { $0.event == .ended })
            #expect(end.at == delivery.at && end.text.contains(EndingCause.deviceRemoved.rawValue))
        }
    }
}
