package import PushStore
package import PushTypes

extension ProviderStore {
    /// Adds a webhook, however many its app has.
    package func addWebhook(_ webhook: WebhookRecord) async throws {
        _ = try await self.addWebhook(webhook, limit: .max)
    }

    /// Registers the device with the token of this number, and gives its id.
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

    /// Claims the one shard that there must be, for a minute.
    package func claimed(
        lane: NotificationRecord.Lane = .bulk,
        now: Timestamp = Vectors.issuedAt
    ) async throws -> ShardClaim {
        let claims = try await self.claim(lane: lane, now: now, until: now.advanced(by: .seconds(60)), limit: 1)
        guard let claim = claims.first else { throw NothingToClaim() }
        return claim
    }

    /// Everybody that a claimed shard reaches, in pages of `page`.
    package func walk(_ claim: ShardClaim, page: Int, needs: RecipientNeeds = []) async throws -> [Recipient] {
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
        return try await self.commit([page], now: now).first?.mayGoOn ?? false
    }

    /// Applies what the answer to a push of its own said about a device.
    package func apply(
        _ verdict: TokenStateChange.Verdict,
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
            page.findings = [TokenStateChange(device: device, verdict: verdict, reason: reason)]
            page.step = .last(claim)
        }
    }

    /// The notification as it stands now.
    package func current(_ notification: NotificationRecord) async throws -> NotificationRecord {
        guard let found = try await self.notification(notification.id) else { throw NothingToClaim() }
        return found
    }
}

/// A test expected work that the store does not have.
package struct NothingToClaim: Error {
    package init() {}
}

extension DeliveryResult {
    /// How a try of this recipient ended.
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
    /// The end of the claimed shard.
    package static func last(_ claim: ShardClaim) -> ShardStep {
        ShardStep(claim, cursor: claim.end, isLast: true, leaseUntil: nil)
    }
}

extension ScheduleStore {
    /// Up to 1,000 of the app's schedules, whole.
    package func schedules(app: Int64) async throws -> [ScheduleRecord] {
        try await self.schedules(app: app, after: nil, limit: 1000, longestRequest: .max).entries.map(\.schedule)
    }
}
