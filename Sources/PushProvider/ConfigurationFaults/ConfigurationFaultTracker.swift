import Foundation
package import Logging
import Metrics
package import ProviderModel
package import PushSender
package import PushStore
package import PushSupport
package import PushTypes
import Synchronization

/// Pauses environments for configuration faults, and ends the pauses (docs/decisions/0022).
///
/// The state machine decides in memory. A pause that cannot be stored ends. The transaction that stores a pause checks
/// that the credential was not replaced.
package final class ConfigurationFaultTracker: Sendable {
    /// The maximum number of recipients that are released in one transaction.
    private static let releasedAtOnce = 2000

    let store: any AppStore & EnvironmentStore & WebhookStore
    let directory: SenderDirectory
    private let source: any SenderSource
    private let wakes: LaneWakeSignals
    private let webhookWake: WakeSignal
    /// Wakes the monitor when a probe is due earlier than before.
    let probeWake = WakeSignal()
    let time: any TimeSource
    let logger: Logger
    private let stateMachine: Mutex<ConfigurationFaultStateMachine>
    private let isLoaded = Mutex(false)

    package init(
        store: any AppStore & EnvironmentStore & WebhookStore,
        directory: SenderDirectory,
        source: any SenderSource,
        wakes: LaneWakeSignals,
        webhookWake: WakeSignal = WakeSignal(),
        time: any TimeSource,
        logger: Logger
    ) {
        (self.store, self.directory, self.source) = (store, directory, source)
        (self.wakes, self.webhookWake, self.time, self.logger) = (wakes, webhookWake, time, logger)
        self.stateMachine = Mutex(ConfigurationFaultStateMachine())
    }

    /// Reads the stored pauses and starts to observe connections. Later calls do nothing.
    func load() async throws {
        guard !self.isLoaded.withLock({ $0 }) else { return }
        let pauses = try await self.store.environmentPauses()
        let isFirst = self.isLoaded.withLock { isLoaded in
            defer { isLoaded = true }
            return !isLoaded
        }
        guard isFirst else { return }
        let now = self.time.steady
        self.stateMachine.withLock { $0.restore(pauses, now: now) }
        for pause in pauses { await self.log(pause, "sending is still paused") }
        self.source.observe { [weak self] app, environment, failure in
            self?.connectionEnded(AppEnvironment(app: app, environment: environment), failure)
        }
    }

    /// Reads the stored pauses of an app again, after another node has changed one.
    /// - Returns: `false` if they cannot be read now.
    package func reload(app: Int64) async -> Bool {
        guard let pauses = try? await self.store.environmentPauses() else { return false }
        let now = self.time.steady
        self.stateMachine.withLock { stateMachine in
            stateMachine.forget(app: app)
            stateMachine.restore(pauses.filter { $0.target.app == app }, now: now)
        }
        self.probeWake.signal()
        return true
    }

    func pauses(of app: Int64) -> [PushEnvironment: EnvironmentPause] {
        self.stateMachine.withLock { $0.pauses(of: app) }
    }

    // MARK: Proofs

    /// Voids the proofs of an environment's faults after a page with accepted pushes and without faults.
    func accepted(_ target: AppEnvironment) {
        let now = self.time.steady
        let next = self.stateMachine.withLock { stateMachine in
            stateMachine.refute(target, isConnection: false, now: now)
            return stateMachine.nextProbeAt
        }
        if let next, next <= now { self.probeWake.signal() }
    }

    /// Counts the faults of a page, and pauses the environment once they suffice.
    /// - Parameters:
    ///   - count: The number of the page's pushes that met the fault.
    ///   - isRefuted: `true` if other pushes of the page were accepted.
    ///   - epoch: The epoch of the credential that was used.
    /// - Returns: The pause of the environment, with the request to store it (`nil` if the pause is not new), or `nil`
    ///   if the environment is not paused.
    func record(
        _ fault: ConfigurationFault,
        count: Int,
        isRefuted: Bool,
        of target: AppEnvironment,
        epoch: Int64
    ) async -> (pause: EnvironmentPause, request: EnvironmentPauseRequest?)? {
        let clocks = self.time.reading
        let verdict = self.stateMachine.withLock { stateMachine in
            var generator = SystemRandomNumberGenerator()
            return stateMachine.record(
                fault,
                count: count,
                isRefuted: isRefuted,
                of: target,
                epoch: epoch,
                at: clocks,
                using: &generator
            )
        }
        let bundleID = await self.bundleID(target.app)
        let dimensions = [
            ("app", bundleID), ("environment", target.environment.rawValue), ("cause", fault.cause.rawValue),
        ]
        Counter(label: "martlet_configuration_faults_total", dimensions: dimensions).increment(by: count)
        guard case .paused(let pause, let isNew) = verdict else { return nil }
        guard isNew else { return (pause, nil) }
        await self.log(pause, "sending is paused")
        self.probeWake.signal()
        let event = await self.event(.paused, pause)
        return (pause, EnvironmentPauseRequest(pause, epoch: epoch, event: event))
    }

    /// Handles the result of an attempt to connect: a failure, or `nil` for a connection that was opened.
    private func connectionEnded(_ target: AppEnvironment, _ failure: Outcome.Failure?) {
        guard let failure else {
            let now = self.time.steady
            let next = self.stateMachine.withLock { stateMachine in
                stateMachine.refute(target, isConnection: true, now: now)
                return stateMachine.nextProbeAt
            }
            if let next, next <= now { self.probeWake.signal() }
            return
        }
        let endpoint = self.source.endpoint(of: target.environment)
        guard let fault = ConfigurationFault(failure, at: endpoint) else { return }
        Task { await self.connectionFailed(target, fault) }
    }

    private func connectionFailed(_ target: AppEnvironment, _ fault: ConfigurationFault) async {
        do {
            let epoch = try await self.store.credentialEpoch(target)
            let recorded = await self.record(fault, count: 1, isRefuted: false, of: target, epoch: epoch)
            guard let request = recorded?.request else { return }
            try await self.write(request)
            self.webhookWake.signal()
        } catch {
            self.logger.error("a pause could not be written", metadata: ["error": "\(error)"])
        }
    }

    /// Writes a new pause. If that fails, the pause ends, and the fault must be proven again.
    private func write(_ request: EnvironmentPauseRequest) async throws {
        var isWritten = false
        defer { if !isWritten { self.stateMachine.withLock { $0.end(request.pause) } } }
        isWritten = try await self.store.pause(request, now: self.time.recorded)
    }

    // MARK: Ends

    /// Ends the pause of an environment whose credential was replaced, and releases the recipients that it held back.
    package func credentialChanged(_ target: AppEnvironment) async throws {
        try await self.load()
        let epoch = try await self.store.credentialEpoch(target)
        let pause = self.pauses(of: target.app)[target.environment]
        try await self.end(target, pause, because: "a credential was set")
        self.stateMachine.withLock { $0.credentialChanged(target, epoch: epoch) }
        try await self.release(target)
    }

    /// Forgets the credentials and the faults of an app that is erased.
    package func forget(app: Int64) {
        self.directory.forget(app: app)
        self.stateMachine.withLock { $0.forget(app: app) }
    }

    /// Ends a pause after a probe that succeeded, and releases the recipients that it held back.
    func resume(after pause: EnvironmentPause) async throws {
        try await self.end(pause.target, pause, because: "a probe succeeded")
        let now = self.time.steady
        self.stateMachine.withLock { stateMachine in
            stateMachine.end(pause)
            stateMachine.reached(pause.fault, now: now)
        }
        try await self.release(pause.target)
    }

    private func end(_ target: AppEnvironment, _ pause: EnvironmentPause?, because reason: String) async throws {
        var event: Data?
        if let pause { event = await self.event(.resumed, pause) }
        let hasEnded = try await self.store.endPause(
            of: target,
            since: pause?.since,
            event: event,
            now: self.time.recorded
        )
        if hasEnded {
            let app = await self.bundleID(target.app)
            self.logger.info(
                "sending has resumed",
                metadata: ["app": "\(app)", "environment": "\(target.environment.rawValue)", "because": "\(reason)"]
            )
            self.webhookWake.signal()
        }
    }

    /// Releases the recipients that were held back for an environment whose pause has ended: they become due again.
    func release(_ target: AppEnvironment) async throws {
        var count = Self.releasedAtOnce
        while count >= Self.releasedAtOnce {
            count = try await self.store.releaseHeld(by: target, limit: Self.releasedAtOnce)
            for lane in NotificationRecord.Lane.allCases { self.wakes[lane].signal() }
        }
    }

    // MARK: Probes

    var nextProbeAt: Timestamp? { self.stateMachine.withLock { $0.nextProbeAt } }

    func takeProbes() -> [EnvironmentPause] {
        let now = self.time.steady
        return self.stateMachine.withLock { $0.takeProbes(now: now) }
    }

    func takeProbe(of target: AppEnvironment) -> EnvironmentPause? {
        self.stateMachine.withLock { $0.takeProbe(of: target) }
    }

    /// Handles a probe that found the environment still faulty. `fault` is `nil` if the probe was inconclusive.
    func probeFailed(_ pause: EnvironmentPause, _ fault: ConfigurationFault?) async {
        let now = self.time.steady
        let changed = self.stateMachine.withLock { stateMachine in
            var generator = SystemRandomNumberGenerator()
            return stateMachine.probeFailed(pause, fault, now: now, using: &generator)
        }
        guard let changed else { return }
        await self.log(changed, "sending is paused for another cause")
        do {
            let epoch = try await self.store.credentialEpoch(changed.target)
            var request = EnvironmentPauseRequest(changed, epoch: epoch, event: nil)
            request.replacesFault = true
            _ = try await self.store.pause(request, now: self.time.recorded)
        } catch {
            self.logger.error("a pause could not be written", metadata: ["error": "\(error)"])
        }
    }

    // MARK: Reports

    /// Returns the state of an environment for the API, or `nil` for one without a fault.
    package func status(of target: AppEnvironment) async throws -> EnvironmentStatus? {
        try await self.load()
        let clocks = self.time.reading
        return self.stateMachine.withLock { $0.status(of: target) }.map { EnvironmentStatus($0, clocks) }
    }

    /// Returns the pauses of all apps' environments.
    package func pauses() async throws -> [EnvironmentPause] {
        try await self.load()
        return self.stateMachine.withLock { $0.paused }
    }

    func bundleID(_ app: Int64) async -> String {
        let record = try? await self.store.app(id: app)
        return record?.bundleID.name ?? "app \(app)"
    }

    private func event(_ action: WebhookEventEncoder.EnvironmentAction, _ pause: EnvironmentPause) async -> Data? {
        guard (try? await self.store.wants(.environment, app: pause.target.app)) == true else { return nil }
        var events = WebhookEventEncoder(expected: 1)
        events.append(action, pause, at: self.time.now)
        return events.data
    }

    private func log(_ pause: EnvironmentPause, _ message: Logger.Message) async {
        let (fault, environment) = (pause.fault, pause.target.environment)
        let bundleID = await self.bundleID(pause.target.app)
        self.logger.warning(
            message,
            metadata: [
                "app": "\(bundleID)", "environment": "\(environment.rawValue)", "cause": "\(fault.cause.rawValue)",
                "host": "\(fault.host ?? "")", "port": "\(fault.port.map(String.init) ?? "")",
                "error": "\(fault.description)", "advice": "\(fault.advice(app: Topic(bundleID), environment))",
            ]
        )
    }
}

/// The state of an environment with a fault, with times of the wall clock.
package struct EnvironmentStatus: Hashable, Sendable {
    package var fault: ConfigurationFault
    package var proofs: Int
    /// The time of the pause by the wall clock, or of the latest failure if the environment is not paused.
    package var since: Timestamp
    package var isPaused: Bool
    /// The time of the next probe by the wall clock, or `nil` if none is scheduled, or while one is in progress.
    package var nextProbeAt: Timestamp?

    init(_ status: ConfigurationFaultStateMachine.Status, _ clocks: ClockReading) {
        (self.fault, self.proofs, self.since) = (status.fault, status.proofs, status.since)
        self.isPaused = status.isPaused
        self.nextProbeAt = status.nextProbeAt.map { clocks.wall.advanced(by: max(.zero, $0.since(clocks.steady))) }
    }
}
