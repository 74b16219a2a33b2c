package import Logging
import ProviderModel
package import PushStore
import PushTypes
import Synchronization

/// Decides which tokens are deactivated (decision 14). There is one policy for the whole provider.
///
/// A 410 response deactivates a device. `BadDeviceToken` does so only if a push with the same environment, topic and
/// credential was accepted. If too many tokens would be deactivated together, none is.
package final class TokenInvalidationPolicy: Sendable {
    private typealias Key = AppEnvironment

    fileprivate struct EnvironmentState {
        /// The epoch of the credential to which the evidence applies.
        let epoch: Int64
        var breaker: CircuitBreaker
        /// A Boolean value that indicates whether a push was ever accepted with this credential, in any process.
        var isProvenEver = false
        /// The topics of accepted pushes, which prove that environment, topic and credential match.
        var provenTopics: Set<Topic> = []
        /// The tokens from requests without a credential that were already counted as accepted.
        var reached: Set<DeviceToken> = []
    }

    struct Evaluation: Sendable {
        /// A Boolean value that indicates whether the circuit breaker is open, so that no token is deactivated.
        var isBreakerOpen: Bool
        /// A Boolean value that indicates whether only established tokens are deactivated, as too many others were
        /// rejected.
        var areOthersHeld: Bool
        /// The reason why this page opened the breaker, or `nil` if it did not.
        var opened: String?
        /// A Boolean value that indicates whether a push to this topic was accepted in this environment, which proves
        /// that topic and credential are right.
        var isProven: Bool

        /// The evaluation of responses to which no breaker applies.
        static let unlimited = Evaluation(isBreakerOpen: false, areOthersHeld: false, opened: nil, isProven: false)
    }

    private let store: any AppStore & NamedTokenStore & TokenStateStore
    private let limits: CircuitBreaker.Limits
    private let logger: Logger
    private let states = Mutex<[Key: EnvironmentState]>([:])
    private let newDevices = Mutex<(first: Int64, readAt: Timestamp)?>(nil)

    package init(
        store: any AppStore & NamedTokenStore & TokenStateStore,
        limits: CircuitBreaker.Limits = .init(),
        logger: Logger
    ) {
        (self.store, self.limits, self.logger) = (store, limits, logger)
    }

    /// Forgets the state of an app, after its credentials were changed or an operator has closed the breaker.
    package func forget(app: Int64) {
        self.states.withLock { states in
            for environment in PushEnvironment.allCases { states[Key(app: app, environment: environment)] = nil }
        }
    }

    /// Returns the lowest id of the devices that are not established. It is read again after ten minutes. If it cannot
    /// be read, no device counts as established.
    func firstNewDevice(now: Timestamp) async -> Int64 {
        if let known = self.newDevices.withLock({ $0 }), now >= known.readAt, now.since(known.readAt) < .seconds(600) {
            return known.first
        }
        let before = now.advanced(by: .zero - TokenEvidence.age)
        guard let first = try? await self.store.firstDevice(addedSince: before) else { return 0 }
        self.newDevices.withLock { $0 = (first, now) }
        return first
    }

    /// Returns whether a push to an unregistered token was ever accepted, and `false` if the store cannot be read.
    func hasReached(_ token: DeviceToken, app: Int64, environment: PushEnvironment) async -> Bool {
        let key = Key(app: app, environment: environment)
        if self.states.withLock({ $0[key]?.reached.contains(token) ?? false }) { return true }
        return (try? await self.store.tokenState(of: token, app: app, environment: environment)) == .reached
    }

    /// Counts and evaluates the responses of a page, before its tokens are changed. It never fails, because the results
    /// of the page must be written.
    /// - Parameter epoch: The epoch of the environment's credential when the page was prepared. Responses to pushes
    ///   with a replaced credential do not count.
    func evaluate(
        _ evidence: TokenEvidence,
        app: Int64,
        environment: PushEnvironment,
        epoch: Int64,
        topic: Topic,
        now: Timestamp
    ) async -> Evaluation {
        let key = Key(app: app, environment: environment)
        guard let known = await self.load(key, since: epoch) else {
            // The state of the breaker cannot be read: it may be open.
            return Evaluation(isBreakerOpen: true, areOthersHeld: true, opened: nil, isProven: false)
        }
        let (evaluation, isNewlyProven, isNewlyHeld) = self.states.withLock { states in
            var state = states[key] ?? self.state(EnvironmentHealth(epoch: known))
            defer { states[key] = state }
            guard epoch >= state.epoch else { return (state.evaluationOfReplaced, false, false) }
            let (before, wasProven) = (state.breaker.areOthersHeld, state.isProvenEver)
            return (
                state.evaluate(evidence, topic: topic), state.isProvenEver && !wasProven,
                state.breaker.areOthersHeld && !before
            )
        }
        if isNewlyProven {
            try? await self.store.setProven(app: app, environment: environment, epoch: epoch, at: now)
        }
        if isNewlyHeld, !evaluation.isBreakerOpen {
            self.logger.warning(
                "many tokens that were registered lately are called bad or dead: those are kept, others are deactivated",
                metadata: ["environment": "\(environment.rawValue)"]
            )
        }
        if let reason = evaluation.opened {
            await self.persistOpen(reason, app: app, environment: environment, epoch: epoch, now: now)
        }
        return evaluation
    }

    /// Evaluates a feedback list before its devices are changed.
    /// - Parameters:
    ///   - dead: The number of devices that the list would deactivate.
    ///   - active: The number of active devices of the environment before that.
    func evaluate(
        feedback dead: Int,
        of active: Int,
        app: Int64,
        environment: PushEnvironment,
        now: Timestamp
    ) async -> Evaluation {
        let key = Key(app: app, environment: environment)
        guard let known = await self.load(key, since: 0) else {
            return Evaluation(isBreakerOpen: true, areOthersHeld: true, opened: nil, isProven: false)
        }
        let (evaluation, epoch) = self.states.withLock { states in
            var state = states[key] ?? self.state(EnvironmentHealth(epoch: known))
            defer { states[key] = state }
            let opened = state.breaker.record(feedback: dead, of: active)
            let reason = state.breaker.openReason
            let evaluation = Evaluation(
                isBreakerOpen: reason != nil,
                areOthersHeld: false,
                opened: opened ? reason : nil,
                isProven: false
            )
            return (evaluation, state.epoch)
        }
        if let reason = evaluation.opened {
            await self.persistOpen(reason, app: app, environment: environment, epoch: epoch, now: now)
        }
        return evaluation
    }

    private func state(_ health: EnvironmentHealth) -> EnvironmentState {
        let isOpen = health.breakerOpenSince != nil
        let reason = isOpen ? health.breakerReason ?? "opened before the last start" : nil
        return EnvironmentState(
            epoch: health.epoch,
            breaker: CircuitBreaker(limits: self.limits, openReason: reason),
            isProvenEver: health.provenAt != nil
        )
    }

    /// Reads the stored state of an environment, once for each credential.
    /// - Parameter epoch: The minimum epoch of a state that is up to date.
    /// - Returns: The epoch of the state, or `nil` if it cannot be read.
    private func load(_ key: Key, since epoch: Int64) async -> Int64? {
        if let known = self.states.withLock({ $0[key]?.epoch }), known >= epoch { return known }
        guard let health = try? await self.store.health(app: key.app, environment: key.environment)
        else { return nil }
        self.states.withLock { states in
            if let known = states[key]?.epoch, known >= health.epoch { return }
            states[key] = self.state(health)
        }
        return health.epoch
    }

    private func persistOpen(
        _ reason: String,
        app: Int64,
        environment: PushEnvironment,
        epoch: Int64,
        now: Timestamp
    ) async {
        let name = try? await self.store.app(id: app)?.bundleID.name
        self.logger.error(
            "breaker opened: no token is deactivated until an operator closes it",
            metadata: ["app": "\(name ?? "\(app)")", "environment": "\(environment.rawValue)", "reason": "\(reason)"]
        )
        var health = EnvironmentHealth(epoch: epoch)
        health.breakerOpenSince = now
        health.breakerReason = reason
        do {
            try await self.store.setHealth(health, app: app, environment: environment)
        } catch {
            // The breaker stays open in memory. The error is not thrown: the results of the page must be written.
            self.logger.error("the open breaker could not be written", metadata: ["error": "\(error)"])
        }
    }
}

extension TokenInvalidationPolicy.EnvironmentState {
    /// The evaluation of responses to pushes with a replaced credential. They do not count, and tokens that are not
    /// established are left for the next push to evaluate.
    fileprivate var evaluationOfReplaced: TokenInvalidationPolicy.Evaluation {
        TokenInvalidationPolicy.Evaluation(
            isBreakerOpen: self.breaker.openReason != nil,
            areOthersHeld: true,
            opened: nil,
            isProven: false
        )
    }

    fileprivate mutating func evaluate(_ evidence: TokenEvidence, topic: Topic) -> TokenInvalidationPolicy.Evaluation {
        if evidence.accepted > 0 {
            self.provenTopics.insert(topic)
            self.isProvenEver = true
        }
        let others = self.others(in: evidence)
        let opened = self.breaker.record(evidence.established, others: others, isProven: self.isProvenEver)
        let reason = self.breaker.openReason
        return TokenInvalidationPolicy.Evaluation(
            isBreakerOpen: reason != nil,
            areOthersHeld: self.breaker.areOthersHeld,
            opened: opened ? reason : nil,
            isProven: self.provenTopics.contains(topic)
        )
    }

    /// The maximum number of tokens in ``reached``, beyond which the set is emptied.
    private static let maximumReached = 4000

    /// Returns the counts of tokens that are not established, including those newly accepted without a credential.
    private mutating func others(in evidence: TokenEvidence) -> CircuitBreaker.Counts {
        guard !evidence.reached.isEmpty else { return evidence.others }
        let new = evidence.reached.subtracting(self.reached)
        if self.reached.count + new.count > Self.maximumReached { self.reached = [] }
        self.reached.formUnion(new)
        var counts = evidence.others
        counts.accepted += new.count
        return counts
    }
}

extension TokenInvalidationPolicy.Evaluation {
    /// Returns the change of a token after a response, or `nil` if the token does not change.
    /// - Parameters:
    ///   - requested: The change that the response to the push suggests.
    ///   - isEstablished: `true` if the device is established, see ``TokenEvidence``.
    ///   - sentAt: The time of the attempt, from which a bad token that is deactivated counts as invalid.
    ///   - triesElsewhere: `true` if the next attempt is made in the other environment, whose response then decides.
    func change(
        _ requested: TokenStateChange.Kind,
        isEstablished: Bool,
        sentAt: Timestamp,
        triesElsewhere: Bool
    ) -> TokenStateChange.Kind? {
        // These tokens need no operator: the next push evaluates them again.
        let isKept = self.areOthersHeld && !isEstablished
        return switch requested {
        case .deactivated(let since) where self.isBreakerOpen: .withheld(since: since)
        case .deactivated where isKept: .suspected
        case .suspected where triesElsewhere: nil
        case .suspected where self.isProven && !self.isBreakerOpen && !isKept: .deactivated(since: sentAt)
        case .confirmed, .deactivated, .suspected, .withheld, .moved: requested
        }
    }
}
