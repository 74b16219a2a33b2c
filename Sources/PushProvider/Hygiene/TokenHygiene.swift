import Foundation
package import Logging
import PushProtocol
package import PushStore
import Synchronization

/// Decides what is done about tokens: what proves them dead, where they are tried next, and when nothing is done because
/// too many would go at once. One for the whole provider.
package final class TokenHygiene: Sendable {
    private struct Key: Hashable {
        var app: Int64
        var environment: PushEnvironment
    }

    private struct Place {
        var breaker: BreakerMachine
        /// Topics with a push that was accepted: environment, topic and credential fit each other.
        var provenTopics: Set<Topic> = []
    }

    /// What a page of answers means for the tokens of one environment.
    struct Judgement: Sendable {
        /// Nothing is deactivated.
        var isBreakerOpen: Bool
        /// The breaker has opened by this page.
        var opened: String?
        /// A push to this topic was accepted here before or in this page.
        var isProven: Bool
    }

    private let store: any HygieneStore
    private let limits: BreakerMachine.Limits
    private let logger: Logger
    private let places = Mutex<[Key: Place]>([:])

    package init(store: any HygieneStore, limits: BreakerMachine.Limits = .init(), logger: Logger) {
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

    /// Counts the answers of a page and judges them; called before any of its findings is made. It never fails: what was
    /// sent must be written.
    func judge(
        _ answers: BreakerMachine.Answers,
        app: Int64,
        environment: PushEnvironment,
        topic: Topic,
        now: Timestamp
    ) async -> Judgement {
        let key = Key(app: app, environment: environment)
        if self.places.withLock({ $0[key] }) == nil {
            guard let health = try? await self.store.health(app: app, environment: environment) else {
                // Whether the breaker is open cannot be read now: then it may be.
                return Judgement(isBreakerOpen: true, opened: nil, isProven: false)
            }
            let reason = health.breakerOpenSince == nil ? nil : health.breakerReason ?? "opened before the last start"
            self.places.withLock { places in
                if places[key] == nil {
                    places[key] = Place(breaker: BreakerMachine(limits: self.limits, openReason: reason))
                }
            }
        }
        let judgement = self.places.withLock { places in
            var place = places[key] ?? Place(breaker: BreakerMachine(limits: self.limits))
            defer { places[key] = place }
            if answers.accepted > 0 { place.provenTopics.insert(topic) }
            let opened = place.breaker.record(answers)
            let reason = place.breaker.openReason
            return Judgement(
                isBreakerOpen: reason != nil,
                opened: opened ? reason : nil,
                isProven: place.provenTopics.contains(topic)
            )
        }
        if let reason = judgement.opened {
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
        return judgement
    }
}

extension TokenHygiene.Judgement {
    /// What is known of a token after its answer; `nil` where nothing is.
    ///
    /// - Parameter triesElsewhere: the token goes to the other environment next, which will tell more.
    func verdict(
        on answer: DeliveryDecision.TokenAnswer,
        sentAt: Timestamp,
        triesElsewhere: Bool
    ) -> TokenFinding.Verdict? {
        switch answer {
        case .dead(let since): self.isBreakerOpen ? .withheld(since: since) : .dead(since: since)
        case .bad where triesElsewhere: nil
        case .unclear: .suspect
        case .bad where self.isBreakerOpen: .suspect
        case .bad: self.isProven ? .dead(since: sentAt) : .suspect
        }
    }
}
