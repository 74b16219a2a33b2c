import Foundation
package import Logging
package import PushStore
import PushTypes
import Synchronization

/// Decides what is done about tokens: what proves them dead, where they are tried next, and when nothing is done because
/// too many would go at once. One for the whole provider.
package final class TokenInvalidationPolicy: Sendable {
    private struct Key: Hashable {
        var app: Int64
        var environment: PushEnvironment
    }

    fileprivate struct Place {
        var breaker: CircuitBreaker
        /// Counts what proves nothing about the population.
        var others: CircuitBreaker
        var areOthersHeld = false
        /// Whether a push was accepted with this credential, also before the last start.
        var isProvenEver = false
        /// Topics with a push that was accepted: environment, topic and credential fit each other.
        var provenTopics: Set<Topic> = []
    }

    /// What a page of answers means for the tokens of one environment.
    struct Evaluation: Sendable {
        /// Nothing is deactivated.
        var isBreakerOpen: Bool
        /// Nothing is deactivated that is not established.
        var areOthersHeld: Bool
        /// The breaker has opened by this page.
        var opened: String?
        /// A push to this topic was accepted here before or in this page.
        var isProven: Bool
    }

    private let store: any TokenStateStore
    private let limits: CircuitBreaker.Limits
    private let logger: Logger
    private let places = Mutex<[Key: Place]>([:])
    private let newDevices = Mutex<(first: Int64, readAt: Timestamp)?>(nil)

    package init(store: any TokenStateStore, limits: CircuitBreaker.Limits = .init(), logger: Logger) {
        self.store = store
        self.limits = limits
        self.logger = logger
    }

    /// Forgets what is known of an app: its credentials have changed, or somebody has closed the breaker.
    package func forget(app: Int64) {
        self.places.withLock { places in
            for environment in PushEnvironment.allCases { places[Key(app: app, environment: environment)] = nil }
        }
    }

    /// The first device that is not established, as it was within the last ten minutes. While it cannot be read, none is
    /// established.
    func firstNewDevice(now: Timestamp) async -> Int64 {
        if let known = self.newDevices.withLock({ $0 }), now >= known.readAt, now.since(known.readAt) < .seconds(600) {
            return known.first
        }
        let before = now.advanced(by: .zero - TokenEvidence.age)
        guard let first = try? await self.store.firstDevice(addedSince: before) else { return 0 }
        self.newDevices.withLock { $0 = (first, now) }
        return first
    }

    /// Counts the answers of a page and judges them; called before any of its findings is made. It never fails: what was
    /// sent must be written.
    func judge(
        _ evidence: TokenEvidence,
        app: Int64,
        environment: PushEnvironment,
        topic: Topic,
        now: Timestamp
    ) async -> Evaluation {
        let key = Key(app: app, environment: environment)
        guard await self.isKnown(key) else {
            // Whether the breaker is open cannot be read now: then it may be.
            return Evaluation(isBreakerOpen: true, areOthersHeld: true, opened: nil, isProven: false)
        }
        let (judgement, isNewlyProven, isNewlyHeld) = self.places.withLock { places in
            var place = places[key] ?? self.place(nil)
            defer { places[key] = place }
            let (before, wasProven) = (place.areOthersHeld, place.isProvenEver)
            return (
                place.judge(evidence, topic: topic), place.isProvenEver && !wasProven, place.areOthersHeld && !before
            )
        }
        if isNewlyProven { try? await self.store.setProven(app: app, environment: environment, at: now) }
        if isNewlyHeld, !judgement.isBreakerOpen {
            self.logger.warning(
                "many tokens that were registered lately are called bad or dead: they are kept, all others are not held up",
                metadata: ["environment": "\(environment.rawValue)"]
            )
        }
        if let reason = judgement.opened { await self.keepOpen(reason, app: app, environment: environment, now: now) }
        return judgement
    }

    private func place(_ health: EnvironmentHealth?) -> Place {
        let isOpen = health?.breakerOpenSince != nil
        let reason = isOpen ? health?.breakerReason ?? "opened before the last start" : nil
        return Place(
            breaker: CircuitBreaker(limits: self.limits, openReason: reason),
            others: CircuitBreaker(limits: self.limits),
            isProvenEver: health?.provenAt != nil
        )
    }

    /// Reads what is stored of an environment, once.
    private func isKnown(_ key: Key) async -> Bool {
        if self.places.withLock({ $0[key] }) != nil { return true }
        guard let health = try? await self.store.health(app: key.app, environment: key.environment) else {
            return false
        }
        self.places.withLock { places in
            if places[key] == nil { places[key] = self.place(health) }
        }
        return true
    }

    private func keepOpen(_ reason: String, app: Int64, environment: PushEnvironment, now: Timestamp) async {
        self.logger.error(
            "tokens are not deactivated any more until somebody decides",
            metadata: ["environment": "\(environment.rawValue)", "reason": "\(reason)"]
        )
        var health = EnvironmentHealth()
        health.breakerOpenSince = now
        health.breakerReason = reason
        do {
            try await self.store.setHealth(health, app: app, environment: environment)
        } catch {
            // It stays open in memory; what was sent must be written, whatever becomes of this.
            self.logger.error("an open breaker could not be written", metadata: ["error": "\(error)"])
        }
    }
}

extension TokenInvalidationPolicy.Place {
    /// What is not established opens the breaker only where nothing has been accepted yet: there it is all that is known.
    fileprivate mutating func judge(_ evidence: TokenEvidence, topic: Topic) -> TokenInvalidationPolicy.Evaluation {
        if evidence.accepted > 0 {
            self.provenTopics.insert(topic)
            self.isProvenEver = true
        }
        var opened = self.breaker.record(evidence.established)
        let suspicion = self.others.count(evidence.others)
        self.areOthersHeld = suspicion != nil
        if let suspicion, !self.isProvenEver { opened = self.breaker.open(suspicion) || opened }
        let reason = self.breaker.openReason
        return TokenInvalidationPolicy.Evaluation(
            isBreakerOpen: reason != nil,
            areOthersHeld: self.areOthersHeld,
            opened: opened ? reason : nil,
            isProven: self.provenTopics.contains(topic)
        )
    }
}

extension TokenInvalidationPolicy.Evaluation {
    /// What is known of a token after its answer; `nil` where nothing is.
    ///
    /// - Parameters:
    ///   - isEstablished: see ``TokenEvidence``.
    ///   - triesElsewhere: the token goes to the other environment next, which will tell more.
    func verdict(
        on answer: DeliveryDecision.TokenAnswer,
        isEstablished: Bool,
        sentAt: Timestamp,
        triesElsewhere: Bool
    ) -> TokenStateChange.Verdict? {
        // Nobody has to decide about these: they are judged again with the next push.
        let isKept = self.areOthersHeld && !isEstablished
        return switch answer {
        case .dead(let since) where self.isBreakerOpen: .withheld(since: since)
        case .dead(let since): isKept ? .suspect : .dead(since: since)
        case .bad where triesElsewhere: nil
        case .unclear: .suspect
        case .bad where self.isBreakerOpen || isKept: .suspect
        case .bad: self.isProven ? .dead(since: sentAt) : .suspect
        }
    }
}
