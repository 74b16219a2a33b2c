import Foundation
import Logging
import PushStore
import PushSupport
import PushTypes
import Synchronization

/// Direct entitlement: a publisher's own server decides which products an account is entitled to.
///
/// Answers are kept for a while. Checks of the same account that come while it is asked about wait for that answer. A server
/// that fails several times in a row is left alone for a while; the app's setting says what holds then.
final class DirectEntitlement: Sendable {
    /// The decision about one product.
    enum Decision: Hashable, Sendable {
        case granted
        case refused
        /// The server does not know the account, or its token has expired.
        case accountRefused
        /// The server does not answer, and the app wants no account to be entitled then.
        case refusedWhileDown
        /// The server does not answer; another check may help after so long.
        case unavailable(retryAfter: Duration)
    }

    /// The most questions to one server at a time. Beyond that its decision counts as not available.
    static let maximumInFlight = 32
    /// The most questions that one check waits for: those of others about the same account, and its own.
    private static let maximumRounds = 3
    /// The delay that a caller is told while a server has too many questions.
    private static let busyDelay: Duration = .seconds(2)
    /// The delay that a caller is told after a question that failed.
    private static let failureDelay: Duration = .seconds(10)

    /// The end of a question.
    private enum Outcome: Sendable {
        case answered(PublisherAnswer, asked: Set<String>)
        case failed
    }

    /// The next step of a check.
    private enum Step {
        case wait(OneShotValue<Outcome>)
        case down(retryAfter: Duration)
    }

    private struct State {
        var cache: EntitlementCache
        var breakers: [Int64: Breaker] = [:]
        var flights: [EntitlementCache.Account: OneShotValue<Outcome>] = [:]
        /// The number of questions under way to each app's server.
        var inFlight: [Int64: Int] = [:]
        /// The number of checks that wait for a question.
        var waiting = 0
    }

    /// The breaker of an app's server, for one version of it.
    private struct Breaker {
        var revision: UUID
        var machine: PublisherBreaker
    }

    private let state: Mutex<State>
    private let asking: any PublisherAsking
    private let breaker: PublisherBreaker.Limits
    private let time: any TimeSource
    private let log: LimitedLog

    init(
        asking: any PublisherAsking,
        cache: EntitlementCache.Limits,
        breaker: PublisherBreaker.Limits = PublisherBreaker.Limits(),
        time: any TimeSource,
        logger: Logger
    ) {
        self.state = Mutex(State(cache: EntitlementCache(limits: cache)))
        (self.asking, self.breaker, self.time) = (asking, breaker, time)
        self.log = LimitedLog(logger)
    }

    /// The number of checks that wait for a question.
    var waiting: Int { self.state.withLock { $0.waiting } }

    /// Decides about products, in their order. The question names an account, a token or both.
    ///
    /// A check whose task is cancelled waits no longer. The question continues, for the others and for what is kept.
    func decide(_ question: PublisherQuestion, _ server: EntitlementServerRecord) async -> [Decision] {
        let account = EntitlementCache.Account(
            revision: server.revision,
            account: question.account,
            token: question.token
        )
        var verdicts = self.cached(question.products, of: account)
        for _ in 0..<Self.maximumRounds {
            let missing = question.products.filter { verdicts[$0] == nil }
            guard !missing.isEmpty else { break }
            switch self.step(question, missing, account, server) {
            case .down(let delay):
                return self.decisions(question.products, verdicts, account, server, whileDownFor: delay)
            case .wait(let flight):
                guard case .answered(let answer, let asked) = await self.outcome(of: flight) else {
                    return self.decisions(question.products, verdicts, account, server, whileDownFor: Self.failureDelay)
                }
                for product in missing { verdicts[product] = Self.verdict(answer, product, asked: asked) }
            }
        }
        return self.decisions(question.products, verdicts, account, server, whileDownFor: Self.busyDelay)
    }

    // MARK: Questions

    /// Joins the question under way about this account, or asks one if server and limits allow it.
    private func step(
        _ question: PublisherQuestion,
        _ missing: [String],
        _ account: EntitlementCache.Account,
        _ server: EntitlementServerRecord
    ) -> Step {
        self.state.withLock { state in
            if let flight = state.flights[account] {
                state.waiting += 1
                return .wait(flight)
            }
            let inFlight = state.inFlight[server.app, default: 0]
            guard inFlight < Self.maximumInFlight else { return .down(retryAfter: Self.busyDelay) }
            var breaker = self.breaker(of: server, in: state)
            let admission = breaker.machine.admit(at: self.time.steady)
            state.breakers[server.app] = breaker
            if case .wait(let delay) = admission { return .down(retryAfter: delay) }
            state.inFlight[server.app] = inFlight + 1
            var asked = question
            asked.products = missing
            let flight = OneShotValue<Outcome>()
            state.flights[account] = flight
            state.waiting += 1
            Task { [asked] in flight.resolve(.success(await self.ask(asked, account, server))) }
            return .wait(flight)
        }
    }

    /// Waits for the end of a question that a step has joined.
    private func outcome(of flight: OneShotValue<Outcome>) async -> Outcome {
        defer { self.state.withLock { $0.waiting -= 1 } }
        return (try? await flight.valueUnlessCancelled()) ?? .failed
    }

    private func breaker(of server: EntitlementServerRecord, in state: borrowing State) -> Breaker {
        if let breaker = state.breakers[server.app], breaker.revision == server.revision { return breaker }
        return Breaker(revision: server.revision, machine: PublisherBreaker(limits: self.breaker))
    }

    private func ask(
        _ question: PublisherQuestion,
        _ account: EntitlementCache.Account,
        _ server: EntitlementServerRecord
    ) async -> Outcome {
        let result: Result<PublisherAnswer, PublisherFailure>
        do throws(PublisherFailure) {
            result = .success(try await self.asking.ask(question, server))
        } catch {
            result = .failure(error)
        }
        let (outcome, hasOpened) = self.state.withLock { state in
            self.settle(result, question.products, account, server, in: &state)
        }
        switch result {
        case .failure(let failure): self.report(failure, of: question.app, hasOpened: hasOpened)
        case .success(.questionRefused(let status)):
            let fields: Logger.Metadata = ["app": "\(question.app)", "status": "\(status)"]
            self.log.log(.warning, "publisher's server refuses a question", fields)
        case .success: break
        }
        return outcome
    }

    /// Notes the end of a question.
    private func settle(
        _ result: Result<PublisherAnswer, PublisherFailure>,
        _ products: [String],
        _ account: EntitlementCache.Account,
        _ server: EntitlementServerRecord,
        in state: inout State
    ) -> (Outcome, hasOpened: Bool) {
        let now = self.time.steady
        state.flights[account] = nil
        let left = state.inFlight[server.app, default: 1] - 1
        state.inFlight[server.app] = left > 0 ? left : nil
        // The server may have been changed meanwhile: its new version has a breaker of its own.
        let isCurrent = state.breakers[server.app]?.revision == server.revision
        switch result {
        case .failure:
            let hasOpened = isCurrent ? state.breakers[server.app]?.machine.failed(at: now) ?? false : false
            return (.failed, hasOpened)
        case .success(let answer):
            if isCurrent { state.breakers[server.app]?.machine.succeeded() }
            let asked = Set(products)
            var named = asked
            if case .entitled(let granted) = answer { named.formUnion(granted.prefix(Self.maximumKept)) }
            for product in named {
                guard let verdict = Self.verdict(answer, product, asked: asked) else { continue }
                state.cache.keep(verdict, for: .init(account: account, product: product), at: now)
            }
            return (.answered(answer, asked: asked), false)
        }
    }

    /// The most products besides those in question that one answer adds to what is kept.
    private static let maximumKept = 500

    /// Returns what an answer says about a product; `nil` if it was not asked about.
    private static func verdict(
        _ answer: PublisherAnswer,
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
        self.log.log(.warning, "publisher's server does not answer", ["app": "\(app)", "error": "\(failure)"])
        guard hasOpened else { return }
        self.log.log(.error, "publisher's server is left alone for a while", ["app": "\(app)"])
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

    /// Returns the decisions; what has no verdict is decided as the app wants it while the server is down.
    private func decisions(
        _ products: [String],
        _ verdicts: [String: EntitlementCache.Verdict],
        _ account: EntitlementCache.Account,
        _ server: EntitlementServerRecord,
        whileDownFor delay: Duration
    ) -> [Decision] {
        products.map { product in
            switch (verdicts[product], server.whenDown) {
            case (.granted?, _): return .granted
            case (.refused?, _): return .refused
            case (.accountRefused?, _): return .accountRefused
            case (nil, .refuse): return .refusedWhileDown
            case (nil, .allow): return .granted
            case (nil, .allowKnown):
                let key = EntitlementCache.Key(account: account, product: product)
                let isKnown = self.state.withLock { $0.cache.isKnown(key, at: self.time.steady) }
                return isKnown ? .granted : .unavailable(retryAfter: delay)
            }
        }
    }
}
