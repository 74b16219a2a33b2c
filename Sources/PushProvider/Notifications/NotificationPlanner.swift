import Foundation
import ProviderModel
import PushStore
import PushSupport

/// Plans a notification: its shards, the start time of each shard, and the number of recipients.
struct NotificationPlanner: Sendable {
    /// The maximum number of time zones that have a shard of their own. There are fewer names of time zones. Devices in
    /// further zones are read with the last shard.
    private static let maximumZones = 1000

    struct Plan {
        var shards: [ShardPlan]
        var recipients: Int
    }

    /// Counts the devices of an audience, which may take a long time.
    typealias CountDevices = @Sendable (NotificationRecord, AudienceExpression) async throws -> Int

    private let store: any AppStore & DeviceStore
    private let time: any TimeSource
    private let countDevices: CountDevices

    init(store: any AppStore & DeviceStore, time: any TimeSource, countDevices: CountDevices? = nil) {
        (self.store, self.time) = (store, time)
        self.countDevices =
            countDevices ?? { notification, audience in
                try await store.count(
                    app: notification.app,
                    audience: audience,
                    environment: notification.environment,
                    kind: notification.content.tokenKind
                )
            }
    }

    /// Returns the plan, or `nil` if planning takes longer than `budget`, including the wait for other queries.
    func quickPlan(_ notification: NotificationRecord, within budget: Duration) async throws -> Plan? {
        if let plan = Self.planWithoutQueries(notification) { return plan }
        return try await self.store.countingQuickly(app: notification.app, within: budget) {
            try await self.planWithQueries(notification)
        }
    }

    /// Returns the plan of a notification for a caller that can try again later.
    /// - Parameter budget: The maximum processor time of one query.
    /// - Throws: ``StoreError/queryTooExpensive(budget:)``, or `BudgetRefusal` while other queries have to run first.
    func plan(_ notification: NotificationRecord, within budget: Duration) async throws -> Plan {
        if let plan = Self.planWithoutQueries(notification) { return plan }
        return try await self.store.counting(app: notification.app, within: budget) {
            try await self.planWithQueries(notification)
        }
    }

    private static func planWithoutQueries(_ notification: NotificationRecord) -> Plan? {
        guard notification.delivery == nil, case .tokens(let tokens) = notification.audience else { return nil }
        return Plan(shards: [ShardPlan(notBefore: .atOnce)], recipients: tokens.count)
    }

    private func planWithQueries(_ notification: NotificationRecord) async throws -> Plan {
        let shards = self.begun(try await Self.shards(of: notification, in: self.store))
        return Plan(shards: shards, recipients: try await self.count(notification))
    }

    /// Returns the number of recipients that a notification has now, or `nil` if counting takes longer than `budget`.
    func recipients(of notification: NotificationRecord, within budget: Duration) async throws -> Int? {
        try await self.store.countingQuickly(app: notification.app, within: budget) {
            try await self.count(notification)
        }
    }

    /// Marks shards whose start time has passed as due by any clock, so that a step of the wall clock delays none.
    private func begun(_ plans: [ShardPlan]) -> [ShardPlan] {
        let now = self.time.now
        return plans.map { $0.notBefore > now ? $0 : ShardPlan(zone: $0.zone, notBefore: .atOnce) }
    }

    private func count(_ notification: NotificationRecord) async throws -> Int {
        switch notification.audience {
        case .tokens(let tokens): tokens.count
        case .channel: 1
        case .devices(let audience): try await self.countDevices(notification, audience)
        }
    }

    /// Returns one shard for all recipients, or one for each time zone if sending starts at different times in them.
    static func shards(of notification: NotificationRecord, in store: any DeviceStore) async throws -> [ShardPlan] {
        let acceptedAt = notification.createdAt
        guard let delivery = notification.delivery else { return [ShardPlan(notBefore: acceptedAt)] }
        if delivery.isSameEverywhere || notification.audience.hasNoZones {
            return delivery.start(for: nil, acceptedAt: acceptedAt).map { [ShardPlan(notBefore: $0)] } ?? []
        }
        let zones = try await store.timeZones(app: notification.app, kind: notification.content.tokenKind)
        var plans: [ShardPlan] = []
        for name in zones.keys.compactMap({ $0 }).sorted().prefix(Self.maximumZones) {
            guard let start = delivery.start(for: TimeZone(named: name), acceptedAt: acceptedAt) else { continue }
            plans.append(ShardPlan(zone: .named(name), notBefore: start))
        }
        if let start = delivery.start(for: nil, acceptedAt: acceptedAt) {
            plans.append(ShardPlan(zone: .unknown, notBefore: start))
        }
        // The last shard has the devices that move between time zones meanwhile.
        if let last = plans.map(\.notBefore).max() { plans.append(ShardPlan(zone: .remainder, notBefore: last)) }
        return plans
    }
}

extension Audience {
    /// A Boolean value that indicates whether the audience is not split by time zones: named tokens or a channel.
    fileprivate var hasNoZones: Bool { if case .devices = self { false } else { true } }
}

extension AppStore {
    /// Runs queries that count the recipients of a notification. They are charged to the query budget of the app.
    /// - Parameters:
    ///   - budget: The maximum processor time of one query.
    ///   - givenUpAt: The time at which the caller gives up, or `nil` if it never does.
    func counting<Value: Sendable>(
        app: Int64,
        within budget: Duration,
        givenUpAt: ContinuousClock.Instant? = nil,
        _ body: () async throws -> Value
    ) async throws -> Value {
        let account = BudgetCaller(app: try await self.app(id: app)?.bundleID)
        let caller = QueryCaller(budget: budget, purpose: .acceptance, account: account, givenUpAt: givenUpAt)
        return try await QueryCaller.$current.withValue(caller, operation: body)
    }

    /// Runs counting queries as ``counting(app:within:givenUpAt:_:)`` does, for a request that waits for the result.
    /// - Parameter budget: The maximum time of all queries together, including their wait for other queries.
    /// - Returns: The result of `body`, or `nil` if the queries take longer or other queries have to run first.
    func countingQuickly<Value: Sendable>(
        app: Int64,
        within budget: Duration,
        _ body: () async throws -> Value
    ) async throws -> Value? {
        do {
            return try await self.counting(app: app, within: budget, givenUpAt: .now + budget, body)
        } catch StoreError.queryTooExpensive, StoreError.queryInterrupted {
            return nil
        } catch is BudgetRefusal {
            return nil
        }
    }
}
