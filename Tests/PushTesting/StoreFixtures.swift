import Foundation
package import ProviderModel
package import PushStore
import PushSupport
package import PushTypes
package import Testing

extension ProviderStore {
    /// Adds a webhook, however many its app has.
    package func addWebhook(_ webhook: WebhookRecord) async throws {
        _ = try await self.addWebhook(webhook, limit: .max)
    }

    /// Registers the device with the token of this number.
    /// - Returns: its id.
    @discardableResult
    package func register(
        _ number: Int,
        app: Int64,
        environment: PushEnvironment = .sandbox,
        now: Timestamp = Vectors.issuedAt,
        _ change: (inout DeviceRegistration) -> Void = { _ in }
    ) async throws -> Int64 {
        var registration = DeviceRegistration(environment: environment, token: .numbered(number))
        change(&registration)
        return try await self.register([registration], app: app, now: now).first?.device ?? 0
    }

    /// Accepts a notification that can be claimed at once.
    package func start(
        app: Int64,
        to audience: Audience = .devices(.everyone),
        shards: [ShardPlan]? = nil,
        _ change: (inout NotificationRecord) -> Void = { _ in }
    ) async throws -> NotificationRecord {
        var notification = try NotificationRecord.fixture(app: app, to: audience)
        change(&notification)
        let plans = shards ?? [ShardPlan(notBefore: notification.createdAt)]
        _ = try await self.accept(notification, shards: plans, idempotency: nil)
        return notification
    }

    /// Claims the only shard for a minute.
    /// - Throws: ``NothingToClaim`` if there is none.
    package func claimed(
        lane: NotificationRecord.Lane = .bulk,
        now: Timestamp = Vectors.issuedAt
    ) async throws -> ShardClaim {
        let claims = try await self.claim(lane: lane, now: now, until: now.advanced(by: .seconds(60)), limit: 1)
        guard let claim = claims.first else { throw NothingToClaim() }
        return claim
    }

    /// Reads all recipients of a claimed shard, in pages of `page`.
    package func readAll(_ claim: ShardClaim, page: Int, needs: RecipientProfileFields = []) async throws -> [Recipient]
    {
        var (claim, all) = (claim, [Recipient]())
        while true {
            let next = try await self.page(claim, limit: page, needs: needs)
            all += next.recipients
            guard !next.isLast else { return all }
            claim.cursor = next.cursor
        }
    }

    /// Commits one page.
    @discardableResult
    package func commit(
        _ claim: ShardClaim,
        now: Timestamp = Vectors.issuedAt,
        _ fill: (inout PageResult) -> Void
    ) async throws -> Bool {
        var page = PageResult(claim)
        fill(&page)
        return try await self.commit([page], now: now).first?.isInProgress ?? false
    }

    /// Applies a change of a device's token, as the response to a push of its own.
    package func apply(
        _ kind: TokenStateChange.Kind,
        to device: Int64,
        app: Int64,
        reason: String? = nil,
        now: Timestamp = Vectors.issuedAt
    ) async throws {
        let notification = try await self.start(app: app, to: .tokens([.numbered(0)])) { $0.lane = .urgent }
        let until = now.advanced(by: .seconds(1))
        let claims = try await self.claim(lane: .urgent, now: now, until: until, limit: 100)
        guard let claim = claims.first(where: { $0.notification.id == notification.id }) else {
            throw NothingToClaim()
        }
        try await self.commit(claim, now: now) { page in
            page.tokenChanges = [TokenStateChange(device: device, kind: kind, reason: reason)]
            page.step = .last(claim)
        }
    }

    /// Expects the state and the counters of a notification. What is `nil` may be anything.
    package func expect(
        _ notification: NotificationRecord,
        _ state: NotificationRecord.State? = nil,
        accepted: Int? = nil,
        rejected: Int? = nil,
        failed: Int? = nil,
        skipped: Int? = nil,
        unknown: Int? = nil,
        retrying: Int? = nil,
        recipients: Int? = nil,
        finished: Int? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let end = try await self.current(notification)
        if let state { #expect(end.state == state, sourceLocation: sourceLocation) }
        let progress = end.progress
        let counters = [
            ("accepted", progress.accepted, accepted), ("rejected", progress.rejected, rejected),
            ("failed", progress.failed, failed), ("skipped", progress.skipped, skipped),
            ("unknown", progress.unknown, unknown),
            ("retrying", progress.retrying, retrying), ("recipients", progress.recipients, recipients),
            ("finished", progress.finished, finished),
        ]
        for case (let name, let count, let expected?) in counters {
            #expect(count == expected, "\(name)", sourceLocation: sourceLocation)
        }
    }

    /// Returns the notification as it is now.
    package func current(_ notification: NotificationRecord) async throws -> NotificationRecord {
        guard let found = try await self.notification(notification.id) else { throw NothingToClaim() }
        return found
    }
}

/// An error for a test that expected work which the store does not have.
package struct NothingToClaim: Error {
    package init() {}
}

extension DeliveryResult {
    /// Returns the result of a try of this recipient.
    package static func fixture(
        _ recipient: Recipient,
        _ state: DeliveryRecord.State = .accepted,
        reason: String? = nil,
        attempts: Int = 1,
        at: Timestamp = Vectors.issuedAt
    ) -> DeliveryResult {
        DeliveryResult(
            recipient: recipient.id,
            device: recipient.device,
            state: state,
            reason: reason,
            attempts: attempts,
            at: at
        )
    }
}

extension ShardStep {
    /// Returns the step to the end of a claimed shard.
    package static func last(_ claim: ShardClaim) -> ShardStep {
        ShardStep(claim, cursor: claim.end, isLast: true, leaseUntil: nil)
    }
}

extension ScheduleStore {
    /// Returns up to 1,000 of the app's schedules with their requests.
    package func schedules(app: Int64) async throws -> [ScheduleRecord] {
        try await self.schedules(app: app, after: nil, limit: 1000, longestRequest: .max).entries.map(\.schedule)
    }
}

extension ScheduleRecord {
    /// Returns a schedule whose runs send to all devices.
    /// - Parameter createdAt: the time after which its first run is.
    package static func fixture(
        app: Int64,
        name: String = "hourly",
        cron: String = "0 * * * *",
        createdAt: Timestamp = Vectors.issuedAt
    ) throws -> ScheduleRecord {
        let request: JSONValue = ["to": ["all": true], "alert": "Tick"]
        let rule = try RecurringSchedule(stored: ["cron": .string(cron), "timeZone": "UTC"])
        return ScheduleRecord(
            id: UUID(),
            app: app,
            name: name,
            request: try request.text,
            rule: rule,
            nextRunAt: rule.nextRun(after: createdAt),
            createdAt: createdAt
        )
    }
}
