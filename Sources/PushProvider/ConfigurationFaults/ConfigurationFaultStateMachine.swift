import ProviderModel
import PushStore
import PushSupport
import PushTypes

/// Decides which environments are paused for a configuration fault, and when each is probed.
///
/// A few proofs pause an environment: responses that reject its credential, or connections that cannot be opened. An
/// accepted push in between voids the proofs. A paused environment is probed (sent a test push) with back-off, by the
/// steady clock. Only environments with a fault have a state here.
struct ConfigurationFaultStateMachine {
    struct Settings: Hashable, Sendable {
        /// The number of rejected pushes that pause an environment.
        var proofs = 3
        /// The number of failed connections that pause an environment, for failures that any attempt would repeat.
        var connections = 2
        /// The time for which connections must have failed to pause an environment, for failures after which a further
        /// attempt may succeed.
        var patience: Duration = .seconds(10)
        /// The minimum time between two proofs of a too old provider token. A renewed one may not be in use yet.
        var tokenSpacing: Duration = .seconds(3)
        /// The back-off between probes of a paused environment.
        var probes = Backoff(base: .seconds(5), maximum: .seconds(60))
        /// The minimum delay before a probe, even if the random back-off is shorter.
        var leastDelay: Duration = .seconds(1)
        /// The maximum number of concurrent probes, in total and (`probesOfHost`) per host, so that an unresponsive
        /// host leaves probes for other hosts.
        var probesAtOnce = 16
        var probesOfHost = 8
    }

    /// The result of recording a proof of a fault: whether the environment is paused. `isNew` is `true` if this proof
    /// has paused it, and `false` if it was paused before.
    enum Verdict: Hashable {
        /// The verdict that the environment is not paused: the proofs do not suffice, or concern a replaced credential.
        case unproven
        case paused(EnvironmentPause, isNew: Bool)
    }

    struct Status: Hashable, Sendable {
        var fault: ConfigurationFault
        var proofs: Int
        /// The time of the pause, or of the latest proof if the environment is not paused.
        var since: Timestamp
        var isPaused: Bool
        /// The time of the next probe by the steady clock, or `nil` if there is no pause or a probe is in progress.
        var nextProbeAt: Timestamp?
    }

    private struct State {
        /// The epoch of the credential: the number of its changes. Proofs from earlier epochs do not count.
        var epoch: Int64 = 0
        var fault: ConfigurationFault?
        var faultAt = Timestamp.atOnce
        var proofs = 0
        /// The times of the first and the latest counted proof by the steady clock, or `nil` if there is none.
        var firstProofAt, lastProofAt: Timestamp?
        var pause: EnvironmentPause?
        var failedProbes = 0
        var nextProbeAt: Timestamp?

        /// A Boolean value that indicates whether the state differs from that of an environment that never had a fault.
        /// A state that does not differ is removed.
        var isNeeded: Bool { self.pause != nil || self.fault != nil || self.epoch > 0 }
    }

    private let settings: Settings
    private var states: [AppEnvironment: State] = [:]

    init(settings: Settings = Settings()) { self.settings = settings }

    func pauses(of app: Int64) -> [PushEnvironment: EnvironmentPause] {
        guard !self.states.isEmpty else { return [:] }
        var pauses: [PushEnvironment: EnvironmentPause] = [:]
        for environment in PushEnvironment.allCases {
            pauses[environment] = self.states[AppEnvironment(app: app, environment: environment)]?.pause
        }
        return pauses
    }

    /// Returns the state of an environment, or `nil` for one without a fault.
    func status(of target: AppEnvironment) -> Status? {
        guard let state = self.states[target], let fault = state.pause?.fault ?? state.fault else { return nil }
        return Status(
            fault: fault,
            proofs: state.pause?.proofs ?? state.proofs,
            since: state.pause?.since ?? state.faultAt,
            isPaused: state.pause != nil,
            nextProbeAt: state.nextProbeAt
        )
    }

    var paused: [EnvironmentPause] { self.states.values.compactMap(\.pause) }

    // MARK: Proofs

    /// Counts proofs of a fault, and pauses the environment once they suffice. Proofs of an earlier epoch are ignored.
    /// - Parameters:
    ///   - count: The number of rejected pushes, or 1 for a failed connection.
    ///   - isRefuted: `true` if other pushes of the same page were accepted, which voids all proofs.
    ///   - epoch: The epoch of the credential that was used, or `nil` for the current epoch.
    mutating func record(
        _ fault: ConfigurationFault,
        count: Int,
        isRefuted: Bool = false,
        of target: AppEnvironment,
        epoch: Int64? = nil,
        at clocks: ClockReading,
        using generator: inout some RandomNumberGenerator
    ) -> Verdict {
        var state = self.states[target] ?? State()
        guard epoch ?? state.epoch >= state.epoch else { return .unproven }
        defer { self.states[target] = state }
        if let pause = state.pause { return .paused(pause, isNew: false) }
        state.epoch = epoch ?? state.epoch
        (state.fault, state.faultAt) = (fault, clocks.wall)
        guard !isRefuted else {
            state.proofs = 0
            return .unproven
        }
        guard self.counts(fault, state, now: clocks.steady) else { return .unproven }
        if state.proofs == 0 { state.firstProofAt = clocks.steady }
        state.proofs += fault.cause == .clock ? 1 : max(1, count)
        state.lastProofAt = clocks.steady
        guard self.isProven(fault, state, now: clocks.steady) else { return .unproven }
        let pause = EnvironmentPause(target, fault, since: clocks.wall, proofs: state.proofs)
        state.pause = pause
        state.failedProbes = 0
        state.nextProbeAt = self.nextProbe(after: state, now: clocks.steady, using: &generator)
        return .paused(pause, isNew: true)
    }

    /// Returns whether a proof is counted. A proof of a too old provider token is not counted if it follows the last
    /// proof within ``Settings/tokenSpacing``.
    private func counts(_ fault: ConfigurationFault, _ state: State, now: Timestamp) -> Bool {
        guard fault.cause == .clock, let last = state.lastProofAt, state.proofs > 0 else { return true }
        return now >= last.advanced(by: self.settings.tokenSpacing)
    }

    private func isProven(_ fault: ConfigurationFault, _ state: State, now: Timestamp) -> Bool {
        switch fault.cause {
        case .credentialExpired, .credentialUnusable, .credentialMissing: return true
        case .credentialRejected, .topicDisallowed, .clock: return state.proofs >= self.settings.proofs
        case .untrustedServer, .clientCertificateRejected, .wrongProtocol, .proxy:
            return state.proofs >= self.settings.connections
        case .proxyUnavailable, .unknownHost, .refused, .unreachable, .timeout, .closed, .noConnection:
            guard state.proofs >= self.settings.connections, let first = state.firstProofAt else { return false }
            return now >= first.advanced(by: self.settings.patience)
        }
    }

    /// Voids the proofs after accepted pushes or an opened connection.
    ///
    /// A paused environment is not resumed but probed immediately: the pushes may have been accepted before the fault.
    /// - Parameter isConnection: `true` for an opened connection, which voids proofs of connection faults only.
    mutating func refute(_ target: AppEnvironment, isConnection: Bool, now: Timestamp) {
        guard var state = self.states[target] else { return }
        guard !isConnection || (state.pause?.fault ?? state.fault)?.cause.isOfConnection != false else { return }
        if state.pause != nil {
            if let next = state.nextProbeAt { state.nextProbeAt = min(next, now) }
        } else {
            (state.fault, state.proofs, state.firstProofAt, state.lastProofAt) = (nil, 0, nil, nil)
        }
        self.states[target] = state.isNeeded ? state : nil
    }

    // MARK: Pauses

    /// Restores the stored pauses when the process starts. Their environments are probed immediately.
    mutating func restore(_ pauses: [EnvironmentPause], now: Timestamp) {
        for pause in pauses where self.states[pause.target]?.pause == nil {
            self.states[pause.target, default: State()].pause = pause
            self.states[pause.target]?.nextProbeAt = now
        }
    }

    /// Starts a new credential epoch, which discards earlier proofs and ends a pause of the environment.
    mutating func credentialChanged(_ target: AppEnvironment, epoch: Int64) {
        self.states[target] = State(epoch: epoch)
    }

    mutating func forget(app: Int64) {
        for environment in PushEnvironment.allCases {
            self.states[AppEnvironment(app: app, environment: environment)] = nil
        }
    }

    /// Ends a pause, unless another one has replaced it.
    mutating func end(_ pause: EnvironmentPause) {
        guard let state = self.states[pause.target], state.pause?.since == pause.since else { return }
        self.states[pause.target] = State(epoch: state.epoch)
    }

    // MARK: Probes

    /// The time of the next probe of any environment, by the steady clock, or `nil` if none is scheduled.
    var nextProbeAt: Timestamp? { self.states.values.compactMap(\.nextProbeAt).min() }

    /// Returns the pauses whose probe is due, earliest first, within the limits on concurrent probes. Each
    /// environment's next probe is scheduled when this probe has finished.
    mutating func takeProbes(now: Timestamp) -> [EnvironmentPause] {
        var due: [(at: Timestamp, pause: EnvironmentPause)] = []
        var (all, ofHosts) = (0, [String?: Int]())
        for state in self.states.values {
            guard let pause = state.pause else { continue }
            if let at = state.nextProbeAt {
                if at <= now { due.append((at, pause)) }
            } else {
                all += 1
                ofHosts[pause.fault.host, default: 0] += 1
            }
        }
        var taken: [EnvironmentPause] = []
        for (_, pause) in due.sorted(by: { $0.at < $1.at }) where all < self.settings.probesAtOnce {
            guard ofHosts[pause.fault.host, default: 0] < self.settings.probesOfHost else { continue }
            all += 1
            ofHosts[pause.fault.host, default: 0] += 1
            self.states[pause.target]?.nextProbeAt = nil
            taken.append(pause)
        }
        return taken
    }

    /// Makes the probes of all environments with a fault at the address of `fault` due, because that fault has ended.
    mutating func reached(_ fault: ConfigurationFault, now: Timestamp) {
        guard fault.cause.isOfAddress else { return }
        for (target, state) in self.states {
            guard let other = state.pause?.fault, other.cause.isOfAddress, other.host == fault.host,
                other.port == fault.port, let next = state.nextProbeAt
            else { continue }
            self.states[target]?.nextProbeAt = min(next, now)
        }
    }

    /// Returns the pause of an environment to probe now, even if its probe is not due, or `nil` if the environment is
    /// not paused or a probe is in progress.
    mutating func takeProbe(of target: AppEnvironment) -> EnvironmentPause? {
        guard let pause = self.states[target]?.pause, self.states[target]?.nextProbeAt != nil else { return nil }
        self.states[target]?.nextProbeAt = nil
        return pause
    }

    /// Handles a probe that found the environment still faulty.
    /// - Parameter fault: The fault that the probe found, or `nil` if the probe was inconclusive.
    /// - Returns: The pause with its new fault, or `nil` if the fault has not changed or the pause has ended meanwhile.
    mutating func probeFailed(
        _ pause: EnvironmentPause,
        _ fault: ConfigurationFault?,
        now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) -> EnvironmentPause? {
        guard var state = self.states[pause.target], let present = state.pause, present.since == pause.since
        else { return nil }
        defer { self.states[pause.target] = state }
        state.failedProbes = min(state.failedProbes + 1, 64)
        state.nextProbeAt = self.nextProbe(after: state, now: now, using: &generator)
        guard let fault, fault != present.fault else { return nil }
        state.pause?.fault = fault
        return state.pause
    }

    private func nextProbe(
        after state: State,
        now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) -> Timestamp {
        let delay = self.settings.probes.delay(afterFailures: state.failedProbes + 1, using: &generator)
        return now.advanced(by: max(self.settings.leastDelay, delay))
    }
}
