import Foundation
import Logging
import ProviderModel
import PushSender
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushProvider

/// A dispatcher over a store with the vectors' app, a scripted push service and a manual clock.
struct DispatchFixture: Sendable {
    let store: any ProviderStore
    let app: Int64
    let sender: ScriptedSender
    let time: ManualTime
    let wakes: LaneWakeSignals
    let directory: SenderDirectory
    let invalidation: TokenInvalidationPolicy
    let faults: ConfigurationFaultTracker
    let acceptor: NotificationAcceptor
    let limits: DispatchLimits

    /// - Parameters:
    ///   - page: recipients of a page.
    ///   - environments: those for which the app has a credential.
    static func run(
        _ backend: StoreBackend,
        page: Int = 500,
        environments: [PushEnvironment] = [.sandbox],
        breaker: CircuitBreaker.Limits = .init(),
        _ body: (DispatchFixture) async throws -> Void
    ) async throws {
        try await backend.withStore { store, app in
            let (sender, time, wakes) = (ScriptedSender(), ManualTime(), LaneWakeSignals())
            var limits = DispatchLimits()
            limits.page = page
            for environment in environments {
                let key = CredentialRecord.key(
                    teamID: Vectors.teamID,
                    keyID: Vectors.keyID,
                    privateKey: Vectors.privateKey
                )
                try await store.setCredential(key, app: app, environment: environment)
            }
            let directory = SenderDirectory(store: store, source: sender, logger: silentLogger)
            try await body(
                DispatchFixture(
                    store: store,
                    app: app,
                    sender: sender,
                    time: time,
                    wakes: wakes,
                    directory: directory,
                    invalidation: TokenInvalidationPolicy(store: store, limits: breaker, logger: silentLogger),
                    faults: ConfigurationFaultTracker(
                        store: store,
                        directory: directory,
                        source: sender,
                        wakes: wakes,
                        time: time,
                        logger: silentLogger
                    ),
                    acceptor: NotificationAcceptor(store: store, wakes: wakes, budget: .patience, time: time),
                    limits: limits
                )
            )
        }
    }

    /// As after a start of the process: what it knew is gone, what is in the store is there.
    var dispatcher: Dispatcher { self.dispatcher() }

    /// As ``dispatcher``, with another clock, with the signal that wakes the delivery of webhooks, or with the direct way from
    /// the acceptor.
    func dispatcher(
        time: ManualTime? = nil,
        events: WakeSignal = WakeSignal(),
        direct: DirectDispatch? = nil,
        limits: DispatchLimits? = nil
    ) -> Dispatcher {
        Dispatcher(
            store: self.store,
            directory: self.directory,
            invalidation: self.invalidation,
            faults: self.faults,
            wakes: self.wakes,
            events: events,
            limits: limits ?? self.limits,
            direct: direct,
            time: time ?? self.time,
            logger: silentLogger
        )
    }

    /// An acceptor at the beginning of a direct way.
    func acceptor(_ direct: DirectDispatch) -> NotificationAcceptor {
        NotificationAcceptor(
            store: self.store,
            wakes: self.wakes,
            budget: .patience,
            direct: direct,
            time: self.time
        )
    }

    var scheduler: ScheduleRunner { self.scheduler(silentLogger) }

    func scheduler(_ logger: Logger) -> ScheduleRunner {
        ScheduleRunner(
            store: self.store,
            acceptor: self.acceptor,
            wake: WakeSignal(),
            lines: Budget(.logLines),
            time: self.time,
            logger: logger
        )
    }

    /// Devices with the tokens of these numbers.
    func register(
        _ numbers: ClosedRange<Int>,
        in environment: PushEnvironment = .sandbox,
        _ change: (inout DeviceRegistration) -> Void = { _ in }
    ) async throws {
        let registrations = numbers.map { number in
            var registration = DeviceRegistration(environment: environment, token: .numbered(number))
            change(&registration)
            return registration
        }
        _ = try await self.store.register(registrations, app: self.app, at: self.time.reading)
    }

    /// Takes a request as the API would.
    @discardableResult
    func accept(
        _ members: [String: JSONValue],
        by acceptor: NotificationAcceptor? = nil
    ) async throws -> NotificationRecord {
        let app = try #require(try await self.store.app(id: self.app))
        var all: [String: JSONValue] = ["alert": "Hello", "to": ["all": true]]
        all.merge(members) { $1 }
        let request = try NotificationRequest(
            parsing: JSONValue.object(all).text,
            bundleID: app.bundleID,
            now: self.time.now
        )
        return try await (acceptor ?? self.acceptor).accept(request, app: self.app).notification
    }

    /// A schedule from now on, which is not stored yet.
    func schedule(_ name: String = "hourly", app: Int64? = nil, cron: String = "0 * * * *") throws -> ScheduleRecord {
        try .fixture(app: app ?? self.app, name: name, cron: cron, createdAt: self.time.now)
    }

    /// Registers one device and adds a schedule that sends to it.
    @discardableResult
    func addSchedule() async throws -> ScheduleRecord {
        try await self.register(1...1)
        let schedule = try self.schedule()
        try await self.store.addSchedule(schedule)
        return schedule
    }

    /// Works until there is nothing to do now.
    func settle(_ dispatcher: Dispatcher? = nil) async throws {
        let dispatcher = dispatcher ?? self.dispatcher
        while await self.scheduler.step() {}
        while try await dispatcher.step() {}
    }

    /// Lets time pass, and works until there is nothing to do then.
    func settle(_ dispatcher: Dispatcher? = nil, after time: Duration, times: Int = 1) async throws {
        for _ in 0..<times {
            self.time.advance(by: time)
            try await self.settle(dispatcher)
        }
    }

    /// Changes something while the first push is in flight.
    func whileSending(_ change: @escaping @Sendable () async throws -> Void) {
        let once = Once()
        self.sender.onSend { _ in
            guard once.isFirst() else { return }
            do { try await change() } catch { Issue.record("\(error)") }
        }
    }

    /// Deletes the device with the token of this number.
    func delete(_ number: Int) async throws {
        let (app, token, now) = (self.app, DeviceToken.numbered(number), self.time.now)
        _ = try await self.store.deleteDevices(app: app, token: token, environment: nil, now: now)
    }

    /// Pauses, resumes or cancels a notification.
    func set(_ notification: NotificationRecord, _ change: StateChange) async throws {
        _ = try await self.store.setState(change, of: notification.id, now: self.time.now)
    }

    func progress(of notification: NotificationRecord) async throws -> NotificationRecord {
        try #require(try await self.store.notification(notification.id))
    }

    func deliveries(of notification: NotificationRecord) async throws -> [DeliveryRecord] {
        try await self.store.deliveries(of: notification.id, state: nil, after: nil, limit: 10_000)
    }

    func device(_ number: Int) async throws -> DeviceRecord? {
        try await self.store.devices(app: self.app, token: .numbered(number)).first
    }

    /// The numbers of the tokens that were sent to, in order.
    var sentTokens: [DeviceToken] { self.sender.sent.map(\.token) }
}

extension Dispatcher {
    /// Sends claimed shards to their end.
    func sendShards() async throws {
        for claim in try await self.claimShards(.bulk, limit: 1) { try await self.sendShard(claim) }
    }
}

extension Outcome {
    static func refused(_ status: Int, _ reason: Reason, at: Timestamp? = nil, after: Duration? = nil) -> Outcome {
        .rejected(Rejection(status: status, reasonText: reason.rawValue, timestamp: at, retryAfter: after))
    }
}

/// Detects the first call.
final class Once: Sendable {
    private let isDone = Mutex(false)

    func isFirst() -> Bool {
        self.isDone.withLock { isDone in
            defer { isDone = true }
            return !isDone
        }
    }
}
