import Foundation
import GRDB
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushStore

/// Statements that run all the time must not scan tables that grow.
@Suite(.timeLimit(.patience)) struct QueryPlanTests {
    let now = Vectors.issuedAt

    @Test func noStatementScansATableThatGrows() async throws {
        try await withTemporaryDirectory { directory in
            let store = try SQLStore(path: "\(directory)/provider.sqlite", masterKey: try .fixture(1))
            let bundleID = try #require(Topic(Vectors.bundleID))
            let app = try await store.addApp(bundleID: bundleID, name: nil, now: self.now).app.id
            let statements = RecordedStatements()
            try await store.database.write { try $0.traceStatements { statements.add($0) } }
            try await store.database.read { try $0.traceStatements { statements.add($0) } }
            try await self.useEverything(store, app)
            let all = statements.all
            #expect(all.count > 50)
            let faults = try await store.database.read { database in
                try all.sorted().compactMap { try Self.fault($0, in: database) }
            }
            #expect(faults.isEmpty, "\(faults.joined(separator: "\n\n"))")
        }
    }

    /// Every statement that was run.
    private final class RecordedStatements: Sendable {
        private let recorded = Mutex<Set<String>>([])

        var all: Set<String> { self.recorded.withLock { $0 } }

        func add(_ sql: String) {
            self.recorded.withLock { _ = $0.insert(sql) }
        }
    }

    private func useEverything(_ store: SQLStore, _ app: Int64) async throws {
        try await self.useDevices(store, app)
        try await self.useNotifications(store, app)
        try await self.useServices(store, app)
    }

    private func useDevices(_ store: SQLStore, _ app: Int64) async throws {
        for round in 0..<2 {
            try await store.register(1, app: app) { registration in
                registration.installation = "phone"
                registration.user = .set("alice")
                registration.tags = ["a"]
                registration.attributes = ["plan": round == 0 ? .set(.string("pro")) : .clear]
            }
        }
        try await store.register(2, app: app) { $0.installation = "phone" }
        _ = try await store.devices(app: app, audience: .tag("a"), after: 0, limit: 10)
        _ = try await store.devices(app: app, audience: .everyone, after: 0, limit: 10)
        _ = try await store.devices(app: app, token: .numbered(2))
        _ = try await store.count(app: app, audience: .user("alice"), environment: .sandbox)
        _ = try await store.timeZones(app: app)
        let id = try await store.register(3, app: app)
        for kind: TokenStateChange.Kind in [
            .suspected, .confirmed, .withheld(since: self.now), .deactivated(since: self.now), .moved(to: .production),
        ] {
            try await store.apply(kind, to: id, app: app)
        }
        _ = try await store.settleWithheld(app: app, environment: .sandbox, deactivates: true, now: self.now)
        _ = try await store.tokenEvents(app: app, token: .numbered(3), action: nil, before: nil, limit: 10)
        _ = try await store.tokenEvents(app: app, token: nil, action: .suspected, before: 9, limit: 10)
        _ = try await store.deleteDevices(app: app, token: .numbered(3), environment: nil, now: self.now)
    }

    private func useNotifications(_ store: SQLStore, _ app: Int64) async throws {
        let zones: [ShardPlan.Zone] = [.named("UTC"), .unknown, .remainder]
        for lane in NotificationRecord.Lane.allCases {
            for audience: Audience in [
                .devices(.everyone), .devices(.tag("a")), .tokens([.numbered(1), .numbered(9)]),
            ] {
                let shards = zones.map { ShardPlan(zone: $0, notBefore: self.now) } + [ShardPlan(notBefore: self.now)]
                let notification = try await store.start(app: app, to: audience, shards: shards) { $0.lane = lane }
                try await self.send(store, lane)
                _ = try await store.setState(.pause(reason: nil), of: notification.id, now: self.now)
                _ = try await store.setState(.resume, of: notification.id, now: self.now)
                _ = try await store.setState(.cancel, of: notification.id, now: self.now)
                _ = try await store.deliveries(of: notification.id, state: .failed, after: nil, limit: 10)
                _ = try await store.delivery(of: DeliveryPrefix(of: notification.id), recipient: 1)
                _ = try await store.history(of: notification.id, recipient: 1)
                _ = try await store.history(of: notification.id)
                _ = try await store.waiting(app: app, device: 1, token: .numbered(1), limit: 10)
                _ = try await store.notification(DeliveryPrefix(of: notification.id))
            }
        }
        let scheduled = try await store.start(app: app, shards: []) { $0.state = .scheduled }
        _ = try await store.due(now: self.now, limit: 10)
        _ = try await store.nextOpening()
        try await store.open(scheduled.id, shards: [ShardPlan(notBefore: self.now)], recipients: 1, now: self.now)
        for state in [nil, .scheduled, .sending, .done] as [NotificationRecord.State?] {
            _ = try await store.notifications(app: app, state: state, before: nil, limit: 10)
            _ = try await store.notifications(app: nil, state: state, before: nil, limit: 10)
        }
        _ = try await store.deliveries(app: app, device: 1, before: nil, limit: 10)
        _ = try await store.deliveries(app: app, unregistered: .numbered(9), before: nil, limit: 10)
        _ = try await store.recover(now: self.now)
        try await store.settleWaiting(at: ClockReading(self.now))
        _ = try await store.firstDevice(addedSince: self.now)
        _ = try await store.forgetEvents(before: self.now)
        _ = try await store.forgetAudit(before: self.now, limit: 10)
        _ = try await store.forget(before: self.now.advanced(by: .seconds(9)), limit: 10)
        _ = try await store.forgetConnections(before: self.now, limit: 10)
        _ = try await store.statistics(now: self.now)
    }

    /// Sends to all recipients, which then wait for another try.
    private func send(_ store: SQLStore, _ lane: NotificationRecord.Lane) async throws {
        let until = self.now.advanced(by: .seconds(1))
        for claim in try await store.claim(lane: lane, now: self.now, until: until, limit: 10) {
            let recipients = try await store.readAll(claim, page: 10, needs: .user)
            var page = PageResult(claim)
            page.deliveries = recipients.map { .fixture($0, .sending) }
            _ = try await store.begin(page, now: self.now)
            try await store.commit(claim) { page in
                page.retries = recipients.map { RetryResult(recipient: $0.id, attempts: 1, dueAt: self.now) }
                page.step = .last(claim)
                page.events = Data("{}".utf8)
                page.times = PageTimes(claimedAt: self.now, sentAt: self.now, answeredAt: self.now)
            }
        }
        _ = try await store.nextDue(lane: lane)
        _ = try await store.dueRetries(lane: lane, now: self.now, until: until, limit: 10, from: ClaimFilter())
    }

    private func useServices(_ store: SQLStore, _ app: Int64) async throws {
        _ = try await store.start(app: app)
        let number = try await store.claimed().notificationNumber
        _ = try await store.changeBadges(by: 1, notification: number, app: app, holders: ["alice"])
        _ = try await store.badge(app: app, holder: "alice")
        let cap = FrequencyCap(count: 1, window: 60)
        let users = FrequencyCapReservation(cap, app: app, notification: number, holders: ["user:alice"], now: self.now)
        _ = try await store.reserve([users])
        _ = try await store.forgetCapUses(now: self.now, limit: 10)
        _ = try await store.skipCounts(of: UUID())
        _ = try await store.eventBlocks(app: app, kinds: [.delivery], after: 0, limit: 10)
        _ = try await store.lastEventBlock(app: app, before: self.now)
        _ = try await store.forgetEvents(before: self.now)
        _ = try await store.dueSchedules(now: self.now, limit: 10)
        _ = try await store.nextScheduleRun()
        _ = try await store.audit(before: nil, limit: 10)
        _ = try await store.statistics(apps: [app], from: .atOnce, to: self.now, step: .hour)
        _ = try await store.topReasons(apps: [app], from: .atOnce, to: self.now, limit: 5)
        _ = try await store.rollUpStatistics(now: self.now.advanced(by: .seconds(9_000_000)))
        _ = try await store.libraryItems(of: .audience, app: app, after: 0, limit: 10, bytes: .max)
        _ = try await store.libraryNames(of: .audience, app: app, after: 0, limit: 10)
        _ = try await store.forgetAudit(before: self.now, limit: 10)
    }

    /// Tables with few rows: of what people set up, or of what is in progress for a short time.
    private static let small: Set<String> = ["app", "credential", "health", "apiKey", "schedule", "webhook", "shard"]

    /// Scans that read no more rows than they must.
    private static let excused = [
        // As many rows as are deleted.
        "DELETE FROM tokenEvent", "DELETE FROM eventBlock", "DELETE FROM audit",
        // Over an index of what is in progress.
        "SELECT state, count(*) AS count FROM notification WHERE finishedAt IS NULL", "SELECT count(*) FROM retry",
        // Once, at the start.
        "INSERT INTO retry (notification, recipient, lane, app, attempts, dueAt)",
    ]

    /// Returns the plan of a statement; `nil` if it scans small tables only.
    private static func fault(_ sql: String, in database: any SQLConnection) throws -> String? {
        let verb = sql.prefix { $0 != " " && $0 != "\n" }.uppercased()
        guard ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE"].contains(verb),
            !Self.excused.contains(where: { sql.hasPrefix($0) })
        else { return nil }
        let scans = try database.plan(of: sql).filter { detail in
            guard detail.hasPrefix("SCAN ") else { return false }
            let table = detail.dropFirst(5).prefix { $0 != " " }
            return Self.tables.contains(String(table)) && !Self.small.contains(String(table))
        }
        return scans.isEmpty ? nil : "\(sql)\n  \(scans)"
    }

    private static let tables: Set<String> = [
        "device", "deviceTag", "deviceAttribute", "notification", "target", "delivery", "retry", "reason", "badge",
        "badgeStep", "tokenEvent", "eventBlock", "audit", "page", "attempt", "connection", "webhookPost", "skipCount",
        "capUse", "statistic", "statisticReason", "libraryItem", "libraryVersion",
    ]
}
