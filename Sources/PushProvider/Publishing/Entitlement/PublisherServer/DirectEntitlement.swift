import Foundation
import Logging
import ProviderModel
import PushSupport
import PushTypes
import Synchronization

/// Direct entitlement: a publisher's own server decides to which products an account is entitled.
///
/// Responses are cached. If a request about the same account is in progress, a check waits for its response.
///
/// A server that fails several times in a row counts as down, and is not queried for a while. Meanwhile a setting of
/// the app decides about entitlement. A single failure entitles no account, because the client may have caused it.
final class DirectEntitlement: Sendable {
    enum Decision: Hashable, Sendable {
        case granted
        case refused
        /// The decision that the account must sign in again: the server does not know it, or its token has expired.
        case accountRefused
        /// The decision that refuses all accounts while the server does not respond, according to the app's setting.
        case refusedWhileDown
        /// The result if the server does not respond. Another check may succeed after this delay.
        case unavailable(retryAfter: Duration)
        /// The result if too many requests are in progress. It says nothing about the server.
        case tooMany(BudgetRefusal)
    }

    /// The maximum number of requests for which one check waits, whether other checks of the same account or the check
    /// itself started them. Products without a verdict then count as ``Decision/tooMany(_:)``.
    private static let maximumRounds = 3
    /// The delay after which callers are advised to retry after a failed request to the server.
    private static let failureDelay: Duration = .seconds(10)

    private enum Outcome: Sendable {
        case answered(PublisherResponse, asked: Set<String>)
        /// A request that failed. `isDown` is `true` if the server counts as down because of this failure.
        case failed(isDown: Bool)
        /// A request that was not sent because the server counts as down.
        case down(retryAfter: Duration)
        /// A request for which the budget had no permit, or no permit for the look-up of the server's name.
        case tooMany(BudgetRefusal)
    }

    private struct Flight {
        let outcome: OneShotValue<Outcome>
        /// A Boolean value that indicates whether the check has started the request itself.
        let isOwn: Bool
    }

    private struct Check {
        let server: EntitlementServerRecord
        let account: EntitlementCache.Account
        let caller: BudgetCaller
        /// The site of the client, to which a failure is attributed, or `nil` if it is not known.
        let site: PublisherBreaker.Site?
    }

    private struct State {
        var cache: EntitlementCache
        var breakers: [Int64: Breaker] = [:]
        var flights: [EntitlementCache.Account: OneShotValue<Outcome>] = [:]
        var waiting = 0
    }

    /// The circuit breaker for one version of an app's server settings.
    private struct Breaker {
        var revision: UUID
        var machine: PublisherBreaker
    }

    private let state: Mutex<State>
    private let asking: any PublisherServer
    private let questions: Budget
    private let breaker: PublisherBreaker.Limits
    private let time: any TimeSource
    private let log: RateLimitedLog

    init(
        asking: any PublisherServer,
        questions: Budget,
        cache: EntitlementCache.Limits,
        breaker: PublisherBreaker.Limits = PublisherBreaker.Limits(),
        time: any TimeSource,
        log: RateLimitedLog
    ) {
        self.state = Mutex(State(cache: EntitlementCache(limits: cache)))
        (self.asking, self.questions, self.breaker, self.time) = (asking, questions, breaker, time)
        self.log = log
    }

    var waiting: Int { self.state.withLock { $0.waiting } }

    /// Returns one decision for each product, in the same order. `question` contains an account, a token or both.
    ///
    /// A check whose task is cancelled stops waiting. Its request continues, for other checks and for the cache.
    /// - Parameter client: The network of the client, or `nil` if all clients have the address of a proxy. Then
    ///   accounts take turns instead of clients.
    func decide(
        _ question: PublisherRequest,
        _ server: EntitlementServerRecord,
        client: BudgetCaller.Identity?
    ) async -> [Decision] {
        let account = EntitlementCache.Account(
            revision: server.revision,
            account: question.account,
            token: question.token
        )
        let check = Check(
            server: server,
            account: account,
            caller: BudgetCaller(app: question.app, client?.site ?? .name(account.name)),
            site: client.map(PublisherBreaker.Site.init)
        )
        var verdicts = self.cached(question.products, of: check.account)
        // If there is no verdict after the last round, the check has waited only for requests of other checks.
        var missingDecision = Decision.tooMany(BudgetRefusal(.entitlementQuestions, .caller))
        for _ in 0..<Self.maximumRounds {
            let missing = question.products.filter { verdicts[$0] == nil }
            guard !missing.isEmpty else { break }
            let flight = self.join(question, missing, check)
            switch await self.outcome(of: flight.outcome) {
            case .answered(let answer, let asked):
                for product in missing { verdicts[product] = Self.verdict(answer, product, asked: asked) }
            case .tooMany(let refusal):
                missingDecision = .tooMany(refusal)
                // The refusal of another client's request says nothing about the budget of this one.
                guard flight.isOwn else { continue }
                return self.decisions(question.products, verdicts) { _ in missingDecision }
            case .down(let delay):
                return self.decisions(question.products, verdicts) {
                    self.withoutAnswer($0, check, isDown: true, retryAfter: delay)
                }
            case .failed(let isDown):
                return self.decisions(question.products, verdicts) {
                    self.withoutAnswer($0, check, isDown: isDown, retryAfter: Self.failureDelay)
                }
            }
        }
        return self.decisions(question.products, verdicts) { _ in missingDecision }
    }

    // MARK: Questions

    private func join(_ question: PublisherRequest, _ missing: [String], _ check: Check) -> Flight {
        self.state.withLock { state in
            state.waiting += 1
            if let flight = state.flights[check.account] { return Flight(outcome: flight, isOwn: false) }
            var asked = question
            asked.products = missing
            let flight = OneShotValue<Outcome>()
            state.flights[check.account] = flight
            Task { [asked] in
                let outcome = await self.outcome(of: asked, check)
                self.state.withLock { $0.flights[check.account] = nil }
                flight.resolve(.success(outcome))
            }
            return Flight(outcome: flight, isOwn: true)
        }
    }

    private func outcome(of flight: OneShotValue<Outcome>) async -> Outcome {
        defer { self.state.withLock { $0.waiting -= 1 } }
        return (try? await flight.valueUnlessCancelled()) ?? .failed(isDown: false)
    }

    /// Sends a request once the budget grants a permit, if the circuit breaker allows it.
    private func outcome(of question: PublisherRequest, _ check: Check) async -> Outcome {
        let place: BudgetPermit
        do {
            place = try await self.questions.wait(for: check.caller)
        } catch let refusal as BudgetRefusal {
            return .tooMany(refusal)
        } catch {
            return .failed(isDown: false)
        }
        defer { place.end() }
        let admission = self.state.withLock { state in
            var breaker = self.breaker(of: check.server, in: state)
            defer { state.breakers[check.server.app] = breaker }
            return breaker.machine.admit(at: self.time.steady)
        }
        if case .wait(let delay) = admission { return .down(retryAfter: delay) }
        return await self.ask(question, check)
    }

    private func breaker(of server: EntitlementServerRecord, in state: borrowing State) -> Breaker {
        if let breaker = state.breakers[server.app], breaker.revision == server.revision { return breaker }
        return Breaker(revision: server.revision, machine: PublisherBreaker(limits: self.breaker))
    }

    private func ask(_ question: PublisherRequest, _ check: Check) async -> Outcome {
        let result: Result<PublisherResponse, PublisherFailure>
        do throws(PublisherFailure) {
            result = .success(try await self.asking.ask(question, check.server))
        } catch {
            result = .failure(error)
        }
        let (outcome, hasOpened) = self.state.withLock { state in
            self.settle(result, question.products, check, in: &state)
        }
        switch result {
        case .failure(.notAsked(let reason)):
            let fields: Logger.Metadata = ["app": "\(question.app)", "error": "\(reason)"]
            self.log.log(.warning, "publisher's server is not asked", fields, app: question.app)
        case .failure(let failure): self.report(failure, of: question.app, hasOpened: hasOpened)
        case .success(.questionRefused(let status)):
            let fields: Logger.Metadata = ["app": "\(question.app)", "status": "\(status)"]
            self.log.log(.warning, "publisher's server refuses a question", fields, app: question.app)
        case .success: break
        }
        return outcome
    }

    private func settle(
        _ result: Result<PublisherResponse, PublisherFailure>,
        _ products: [String],
        _ check: Check,
        in state: inout State
    ) -> (Outcome, hasOpened: Bool) {
        let (now, server) = (self.time.steady, check.server)
        // If the server was changed meanwhile, its new version has a breaker of its own.
        let isCurrent = state.breakers[server.app]?.revision == server.revision
        switch result {
        case .failure(.notAsked):
            if isCurrent { state.breakers[server.app]?.machine.notAsked(at: now) }
            return (.tooMany(BudgetRefusal(.entitlementQuestions, .whole)), false)
        case .failure(let failure):
            guard isCurrent, var breaker = state.breakers[server.app] else { return (.failed(isDown: false), false) }
            let hasOpened = breaker.machine.failed(
                failure.mayBeOfQuestion ? .question(check.site) : .connection,
                at: now
            )
            state.breakers[server.app] = breaker
            return (.failed(isDown: breaker.machine.isOpen), hasOpened)
        case .success(let answer):
            if isCurrent { state.breakers[server.app]?.machine.succeeded() }
            let asked = Set(products)
            var named = asked
            if case .entitled(let granted) = answer { named.formUnion(granted.prefix(Self.maximumKept)) }
            for product in named {
                guard let verdict = Self.verdict(answer, product, asked: asked) else { continue }
                state.cache.keep(verdict, for: .init(account: check.account, product: product), at: now)
            }
            return (.answered(answer, asked: asked), false)
        }
    }

    /// The maximum number of products in a response that are cached beyond those of the request. The rest is not.
    private static let maximumKept = 500

    /// Returns the verdict about a product in a response, or `nil` if the product was not in the request.
    private static func verdict(
        _ answer: PublisherResponse,
        _ product: String,
        asked: Set<String>
    ) -> EntitlementCache.Verdict? {
        switch answer {
        case .accountRefused: .accountRefused
        case .questionRefused: asked.contains(product) ? .refused : nil
        case .entitled(let granted) where granted.contains(product): .granted
        case .entitled: asked.contains(product) ? .refused : nil
        }
    }

    private func report(_ failure: PublisherFailure, of app: Topic, hasOpened: Bool) {
        let fields: Logger.Metadata = ["app": "\(app)", "error": "\(failure)"]
        self.log.log(.warning, "publisher's server does not answer", fields, app: app)
        guard hasOpened else { return }
        self.log.log(.error, "publisher's server is left alone for a while", ["app": "\(app)"], app: app)
    }

    // MARK: Decisions

    private func cached(
        _ products: [String],
        of account: EntitlementCache.Account
    ) -> [String: EntitlementCache.Verdict] {
        let now = self.time.steady
        return self.state.withLock { state in
            var verdicts: [String: EntitlementCache.Verdict] = [:]
            for product in products {
                verdicts[product] = state.cache.verdict(.init(account: account, product: product), at: now)
            }
            return verdicts
        }
    }

    /// Returns the decisions about products. `missing` decides about each product without a verdict.
    private func decisions(
        _ products: [String],
        _ verdicts: [String: EntitlementCache.Verdict],
        missing: (String) -> Decision
    ) -> [Decision] {
        products.map { product in
            switch verdicts[product] {
            case .granted?: .granted
            case .refused?: .refused
            case .accountRefused?: .accountRefused
            case nil: missing(product)
            }
        }
    }

    /// Returns the decision according to the app's setting for a server that does not respond.
    private func withoutAnswer(
        _ product: String,
        _ check: Check,
        isDown: Bool,
        retryAfter delay: Duration
    ) -> Decision {
        switch check.server.whenDown {
        case .refuse: return .refusedWhileDown
        case .allow: return isDown ? .granted : .unavailable(retryAfter: delay)
        case .allowKnown:
            let key = EntitlementCache.Key(account: check.account, product: product)
            let isKnown = self.state.withLock { $0.cache.isKnown(key, at: self.time.steady) }
            return isKnown ? .granted : .unavailable(retryAfter: delay)
        }
    }
}
