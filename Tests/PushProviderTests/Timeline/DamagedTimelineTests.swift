import Foundation
import ProviderModel
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider
@testable import PushStore

/// Timelines of rows that hold anything: damaged, or written under a clock that was wrong.
@Suite(.timeLimit(.patience)) struct DamagedTimelineTests {
    /// The columns of numbers from which timelines are made.
    private static let columns = [
        ("notification", ["receivedAt", "checkedIn", "openedAt", "createdAt", "startsAt", "finishedAt"]),
        ("delivery", ["trip", "attempts"]), ("connection", ["localPort", "openedAt"]),
        ("page", ["recipients", "claimedAt", "sentAt", "committedAt", "isRetry", "block", "first", "last"]),
        ("attempt", ["number", "firstAt", "at", "times", "reason", "trip"]),
    ].flatMap { table, columns in columns.map { (table, $0) } }

    /// Sends a notification to two devices: one is accepted, and one tried again.
    private func sent(_ store: SQLStore) async throws -> (NotificationRecord, [Recipient]) {
        let (now, bundleID) = (Vectors.issuedAt, try #require(Topic(Vectors.bundleID)))
        let app = try await store.addApp(bundleID: bundleID, name: nil, now: now).app.id
        for number in 1...2 { _ = try await store.register(number, app: app) }
        let notification = try await store.start(app: app)
        let claim = try await store.claimed()
        let recipients = try await store.readAll(claim, page: 10)
        try #require(recipients.count == 2)
        try await store.commit(claim) { page in
            page.step = .last(claim)
            page.times = PageTimes(claimedAt: now, sentAt: now, answeredAt: now)
            page.connections = [OpenedConnection(service: "s:1", address: "a", localPort: 1, openedAt: now)]
            var accepted = DeliveryResult.fixture(recipients[0])
            (accepted.at, accepted.trip) = (now, PushTrip(connection: 0, milliseconds: 7))
            page.deliveries = [accepted]
            var retry = RetryResult(recipient: recipients[1].id, attempts: 1, dueAt: now)
            retry.attempt = AttemptResult(reason: "no", wasSent: true, trip: accepted.trip)
            page.retries = [retry]
        }
        return (notification, recipients)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func anyNumbersMakeATimeline(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        try await withTemporaryDirectory { directory in
            let store = try SQLStore(path: "\(directory)/provider.sqlite", masterKey: try .fixture(1))
            let (notification, recipients) = try await self.sent(store)
            let reader = TimelineReader(store: store, gateway: nil, faults: nil, time: ManualTime(Vectors.issuedAt))
            var read = 0
            for _ in 0..<60 {
                let (table, column) = try #require(Self.columns.randomElement(using: &generator))
                let random = Int64.random(in: .min ... .max, using: &generator)
                let numbers: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max, random]
                let number = try #require(numbers.randomElement(using: &generator))
                // A key that is taken stays.
                try await store.database.run(sql: "UPDATE OR IGNORE \(table) SET \(column) = \(number)")
                let text = Data((0..<8).map { _ in UInt8.random(in: 0...255, using: &generator) })
                let literal = text.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
                try await store.database.run(sql: "UPDATE notification SET warnings = x'\(literal)'")
                for recipient in recipients.map(\.id) {
                    let key = RecipientKey(notification: notification.id, recipient: recipient)
                    let timeline = await Self.unlessDamaged { try await reader.timelines(of: [key]).first }
                    read += timeline == nil ? 0 : 1
                    for step in timeline?.steps ?? [] { #expect(!step.text.isEmpty) }
                }
                _ = await Self.unlessDamaged {
                    guard let record = try await store.notification(notification.id) else { return nil }
                    return try await reader.timeline(of: record)
                }
            }
            #expect(read > 0)
        }
    }

    /// Returns the timeline; `nil` for a row that is found to be damaged, or a sum that is too large.
    private static func unlessDamaged(_ read: () async throws -> Timeline?) async -> Timeline? {
        do { return try await read() } catch { return nil }
    }
}
