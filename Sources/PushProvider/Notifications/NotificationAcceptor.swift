package import Foundation
package import PushStore
package import PushSupport
import PushTypes

/// Takes notifications: counts their recipients, decides when each part of them begins, puts them into the ledger and
/// wakes the dispatcher.
package struct NotificationAcceptor: Sendable {
    /// Time zones that get a shard of their own: more than have a name. Any others would be asked for one by one.
    private static let maximumZones = 1000

    /// Time that counting the recipients of one notification may take.
    package struct Budgets: Hashable, Sendable {
        /// While its sender waits for the answer; what takes longer is accepted all the same, and opened later.
        package var acceptance: Duration = .seconds(5)
        /// When it is opened; what takes longer is paused.
        package var opening: Duration = .seconds(30)

        package init() {}
    }

    private let store: any ProviderStore
    private let wakes: LaneWakeSignals
    private let budgets: Budgets
    private let time: any TimeSource
    private let countDevices: CountDevices

    typealias CountDevices = @Sendable (Int64, AudienceExpression, PushEnvironment?) async throws -> Int

    package init(store: any ProviderStore, wakes: LaneWakeSignals, budgets: Budgets = Budgets(), time: any TimeSource) {
        self.init(store: store, wakes: wakes, budgets: budgets, time: time) { app, audience, environment in
            try await store.count(app: app, audience: audience, environment: environment)
        }
    }

    /// - Parameter countDevices: counts the devices of an audience, which may take long.
    init(
        store: any ProviderStore,
        wakes: LaneWakeSignals,
        budgets: Budgets = Budgets(),
        time: any TimeSource,
        countDevices: @escaping CountDevices
    ) {
        self.store = store
        self.wakes = wakes
        self.budgets = budgets
        self.time = time
        self.countDevices = countDevices
    }

    /// - Parameters:
    ///   - id: the notification's, if it is to be a certain one.
    ///   - run: the run of a schedule that it is.
    ///   - scheduleVersion: of the record that the run was decided from. The run is accepted only while that stands.
    package func accept(
        _ request: NotificationRequest,
        app: Int64,
        id: UUID = UUID(),
        idempotency: Idempotency? = nil,
        run: ScheduleRun? = nil,
        scheduleVersion: Int64? = nil
    ) async throws -> (notification: NotificationRecord, acceptance: Acceptance) {
        let now = self.time.now
        var record = NotificationRecord(
            id: id,
            app: app,
            content: request.content.stored,
            audience: request.audience,
            environment: request.environment,
            guarantee: request.guarantee,
            lane: request.lane,
            delivery: try request.delivery?.json.text,
            pace: try request.pace?.json.text,
            createdAt: now,
            startsAt: request.delivery?.earliestStart(acceptedAt: now),
            state: .accepted
        )
        record.run = run
        var plan: Plan?
        if record.startsAt <= now {
            plan = try await self.plan(record, request.delivery, within: self.budgets.acceptance)
        }
        let hasNobody = plan.map { $0.recipients == 0 || $0.shards.isEmpty } ?? false
        // Nobody to send to: no page would end it, but opening it does. What takes long to count is opened later.
        if let plan, !hasNobody { record.progress.recipients = plan.recipients } else { record.state = .scheduled }
        let shards = hasNobody ? [] : self.begun(plan?.shards ?? [])
        let acceptance = try await self.store.accept(
            record,
            shards: shards,
            idempotency: idempotency,
            scheduleVersion: scheduleVersion
        )
        if hasNobody, acceptance == .accepted {
            try await self.open(record)
            record = try await self.store.notification(record.id) ?? record
        }
        self.wakes[record.lane].signal()
        return (record, acceptance)
    }

    /// Opens a notification that is due, or pauses it if it cannot be: it would stand in front of all others for good.
    /// - Returns: whether it was opened.
    func openDue(_ notification: NotificationRecord) async throws -> Bool {
        do {
            try await self.open(notification)
            return true
        } catch let error where Self.isOfNotification(error) {
            let reason = "it cannot be opened: \(error)"
            _ = try await self.store.setState(.pause(reason: reason), of: notification.id, now: self.time.recorded)
            return false
        }
    }

    private func open(_ notification: NotificationRecord) async throws {
        let delivery = try notification.delivery.map { try DeliveryTime(stored: JSONValue(parsing: $0)) }
        guard let plan = try await self.plan(notification, delivery, within: self.budgets.opening) else {
            throw StoreError.queryTooExpensive(budget: self.budgets.opening)
        }
        try await self.store.open(
            notification.id,
            shards: plan.recipients == 0 ? [] : self.begun(plan.shards),
            recipients: plan.recipients,
            now: self.time.recorded
        )
        self.wakes[notification.lane].signal()
    }

    /// What may be sent now is due whatever becomes of the wall clock.
    private func begun(_ plans: [ShardPlan]) -> [ShardPlan] {
        let now = self.time.now
        return plans.map { $0.notBefore > now ? $0 : ShardPlan(zone: $0.zone, notBefore: .atOnce) }
    }

    /// Whether an error will come again for this notification, whatever becomes of others.
    private static func isOfNotification(_ error: any Error) -> Bool {
        if case StoreError.queryTooExpensive = error { return true }
        return !(error is StoreError)
    }

    private struct Plan {
        var shards: [ShardPlan]
        var recipients: Int
    }

    /// `nil` if it takes too long to make one.
    private func plan(
        _ notification: NotificationRecord,
        _ delivery: DeliveryTime?,
        within budget: Duration
    ) async throws -> Plan? {
        do {
            return try await QueryCaller.$current.withValue(QueryCaller(budget: budget, purpose: .acceptance)) {
                let shards = try await self.shards(of: notification, delivery: delivery)
                return Plan(shards: shards, recipients: try await self.count(notification))
            }
        } catch StoreError.queryTooExpensive, StoreError.tooManyQueries {
            return nil
        }
    }

    private func count(_ notification: NotificationRecord) async throws -> Int {
        switch notification.audience {
        case .tokens(let tokens): tokens.count
        case .devices(let audience):
            try await self.countDevices(notification.app, audience, notification.environment)
        }
    }

    /// One for all, or one for each time zone if those begin at different moments.
    private func shards(of notification: NotificationRecord, delivery: DeliveryTime?) async throws -> [ShardPlan] {
        let acceptedAt = notification.createdAt
        guard let delivery else { return [ShardPlan(notBefore: acceptedAt)] }
        if delivery.isSameEverywhere || notification.audience.isTokens {
            return delivery.start(for: nil, acceptedAt: acceptedAt).map { [ShardPlan(notBefore: $0)] } ?? []
        }
        let zones = try await self.store.timeZones(app: notification.app)
        var plans: [ShardPlan] = []
        for name in zones.keys.compactMap({ $0 }).sorted().prefix(Self.maximumZones) {
            guard let start = delivery.start(for: TimeZone(named: name), acceptedAt: acceptedAt) else { continue }
            plans.append(ShardPlan(zone: .named(name), notBefore: start))
        }
        if let start = delivery.start(for: nil, acceptedAt: acceptedAt) {
            plans.append(ShardPlan(zone: .unknown, notBefore: start))
        }
        // Whoever has moved between zones meanwhile.
        if let last = plans.map(\.notBefore).max() { plans.append(ShardPlan(zone: .leftOver, notBefore: last)) }
        return plans
    }
}

extension ContentDefinition {
    /// As the ledger keeps it.
    package var stored: NotificationContent {
        NotificationContent(
            topic: self.topic,
            pushType: self.pushType,
            priority: self.priority,
            expiration: self.expiration,
            collapseID: self.collapseID,
            payload: self.payload,
            isTemplate: self.isTemplate
        )
    }
}

extension Audience {
    fileprivate var isTokens: Bool { if case .tokens = self { true } else { false } }
}
