import Foundation
package import Logging
package import ProviderModel
package import PushStore
package import PushSupport
package import PushTypes

/// Decides about entitlement by the App Store's transactions and by publishers' servers.
///
/// Transactions come first, because they are checked offline. The publisher's server is queried only about products to
/// which no transaction entitles.
package struct EntitlementChecker: Sendable {
    private let store: any EntitlementServerStore & PublishingStore
    private let verifier: TransactionVerifier
    private let allowsSandbox: Bool
    private let direct: DirectEntitlement
    /// The budget of wrong secrets, to which forged certificates are charged.
    private let wrong: Budget
    private let client: PublisherClient
    private let time: any TimeSource
    private let log: RateLimitedLog

    /// Creates a checker.
    /// - Parameters:
    ///   - addresses: The policy for the addresses of publishers' servers.
    ///   - questions: The budget of requests to publishers' servers.
    ///   - wrong: The budget of wrong secrets.
    ///   - lines: The budget of log lines.
    package init(
        store: any EntitlementServerStore & PublishingStore,
        settings: EntitlementSettings,
        addresses: AddressPolicy,
        resolver: any NameResolver,
        questions: Budget,
        wrong: Budget,
        lines: Budget,
        time: any TimeSource,
        logger: Logger
    ) {
        self.log = RateLimitedLog(logger, lines)
        let restricted = RestrictedHTTPClient(
            addresses: addresses,
            resolver: resolver,
            source: .settings,
            deadline: settings.deadline
        )
        let client = PublisherClient(client: restricted, time: time)
        let limits = EntitlementCache.Limits(
            count: settings.maximumAnswers,
            grant: settings.grantTime,
            refusal: settings.refusalTime,
            known: settings.knownTime
        )
        self.direct = DirectEntitlement(
            asking: client,
            questions: questions,
            cache: limits,
            breaker: settings.breaker,
            time: time,
            log: self.log
        )
        (self.store, self.client, self.time, self.wrong) = (store, client, time, wrong)
        (self.verifier, self.allowsSandbox) = (TransactionVerifier(settings.roots), settings.allowsSandboxPurchases)
    }

    /// The grounds on which an account can be entitled to retail issues of an app.
    package struct Grounds: Hashable, Sendable {
        /// A Boolean value that indicates whether the provider has a root certificate of the App Store.
        package let hasAppStoreRoot: Bool
        /// A Boolean value that indicates whether purchases in the sandbox entitle to production issues.
        package let allowsSandboxPurchases: Bool
        /// A Boolean value that indicates whether a publisher's server is configured for the app.
        package let hasServer: Bool
    }

    /// Returns the grounds on which an account can be entitled to retail issues of an app.
    package func grounds(app: Int64) async throws -> Grounds {
        Grounds(
            hasAppStoreRoot: self.verifier.hasRoots,
            allowsSandboxPurchases: self.allowsSandbox,
            hasServer: try await self.store.entitlementServer(app: app) != nil
        )
    }

    /// Queries a publisher's server without cache and circuit breaker, and returns the exchange without secrets.
    package func test(
        _ server: EntitlementServerRecord,
        app: Topic,
        account: String?,
        token: String?,
        products: [String]
    ) async -> PublisherExchange {
        let question = PublisherRequest(app: app, account: account, token: token, products: products)
        return await self.client.exchange(question, server)
    }
}

extension EntitlementChecker {
    /// The delay after which callers are advised to retry after a failure of the store.
    private static let storeDelay: Duration = .seconds(5)

    /// Returns one decision for each issue, in the same order. Every account is entitled to free issues. `client` is
    /// the client's network, see ``EntitlementRequest/client``.
    package func decide(
        _ issues: [IssueRecord],
        app: AppRecord,
        proof: EntitlementProof,
        client: BudgetCaller.Identity?
    ) async -> [EntitlementDecision] {
        let products = issues.filter { $0.access == .retail }.map(EntitlementProduct.init)
        let question = EntitlementRequest(app: app, products: products, proof: proof, client: client)
        var decisions = products.isEmpty ? [] : await self.decide(question)[...]
        return issues.map { issue in
            guard issue.access == .retail else { return .entitled(by: .free) }
            let missing = EntitlementDecision.unavailable(message: "no decision was made", retryAfter: .seconds(60))
            return decisions.popFirst() ?? missing
        }
    }

    /// Returns one decision for each product, in the same order.
    ///
    /// It never throws: if it cannot decide, the decision is ``EntitlementDecision/unavailable(message:retryAfter:)``.
    package func decide(_ question: EntitlementRequest) async -> [EntitlementDecision] {
        do {
            let decisions = try await self.decideByTransactions(question)
            return try await self.decideByPublisher(question, otherwise: decisions)
        } catch {
            self.log.log(.error, "entitlement cannot be decided: the store does not respond", ["error": "\(error)"])
            let message = "the provider's database does not respond"
            return question.products.map { _ in .unavailable(message: message, retryAfter: Self.storeDelay) }
        }
    }

    /// Returns the reason why no account can be entitled to retail issues with the app's current settings, or `nil` if
    /// accounts can be entitled.
    package func refusalForEverybody(app: AppRecord) async throws -> String? {
        guard !self.verifier.hasRoots,
            try await self.store.entitlementServer(app: app.id) == nil
        else { return nil }
        return """
            the provider has no App Store root certificate (setting serve.publishing.appStoreRoot), and the app no \
            publisher's server ('martlet entitlement set')
            """
    }

    // MARK: Transactions

    private func decideByTransactions(_ question: EntitlementRequest) async throws -> [EntitlementDecision] {
        // Forged certificates are charged to the client's site, or to the app if a proxy hides the clients.
        let site = question.client.map { BudgetCaller($0.site) } ?? BudgetCaller(app: question.app.bundleID)
        var transactions: [StoreTransaction] = []
        // The first fault is reported if nothing else decides, as the other transactions are likely to have it too.
        var fault: (index: Int, TransactionFault)?
        var unchecked: BudgetRefusal?
        for (index, text) in question.proof.transactions.prefix(EntitlementProof.maximumTransactions).enumerated() {
            do throws(TransactionFault) {
                let (app, now) = (question.app.bundleID, self.time.now)
                transactions.append(
                    try await self.verifier.verify(text, app: app, now: now, wrong: self.wrong, of: site)
                )
            } catch {
                // The other transactions are still checked, so that a forged one does not hide a valid one.
                switch error {
                case .unchecked(let refusal): unchecked = refusal
                default: if fault == nil { fault = (index, error) }
                }
            }
        }
        let rule = TransactionRule(
            allowsSandbox: self.allowsSandbox,
            account: question.proof.account.flatMap(UUID.init(uuidString:))
        )
        let subscriptions = transactions.isEmpty ? [:] : try await self.subscriptions(question.products)
        return question.products.map { product in
            let own = subscriptions[product.publication] ?? []
            let decision = Self.decision(transactions.map { rule.decide($0, product, subscriptions: own) }, fault)
            // The transaction that was not checked may entitle.
            if let unchecked, decision.isRefused { return .tooMany(unchecked) }
            return decision
        }
    }

    /// Returns the subscription products of the products' publications, keyed by publication.
    private func subscriptions(_ products: [EntitlementProduct]) async throws -> [UUID: Set<String>] {
        var subscriptions: [UUID: Set<String>] = [:]
        for publication in Set(products.map(\.publication)) {
            subscriptions[publication] = try await self.store.publication(publication)?.subscriptionProducts
        }
        return subscriptions
    }

    private static func decision(
        _ decisions: [TransactionRule.Decision],
        _ fault: (index: Int, TransactionFault)?
    ) -> EntitlementDecision {
        var refusal = TransactionRule.Refusal.notEntitled
        for decision in decisions {
            switch decision {
            case .entitled: return .entitled(by: .transaction)
            case .refused(let reason): if refusal == .notEntitled { refusal = reason }
            case .unrelated: break
            }
        }
        if refusal == .notEntitled, let (index, fault) = fault {
            return .refused(reason: fault.code, message: "transactions[\(index)]: \(fault.message)")
        }
        return .refused(reason: refusal.rawValue, message: refusal.message)
    }

    // MARK: Publishers' servers

    /// Queries the publisher's server of the app, if it has one, about the products to which no transaction entitles.
    private func decideByPublisher(
        _ question: EntitlementRequest,
        otherwise decisions: [EntitlementDecision]
    ) async throws -> [EntitlementDecision] {
        var decisions = decisions
        let open = decisions.indices.filter { !decisions[$0].isEntitled }
        let (account, token) = (question.proof.account, question.proof.authToken)
        guard !open.isEmpty, account != nil || token != nil,
            let server = try await self.store.entitlementServer(app: question.app.id)
        else { return decisions }
        let asked = PublisherRequest(
            app: question.app.bundleID,
            account: account,
            token: token,
            products: open.map { question.products[$0].productID }
        )
        for (index, decision) in zip(open, await self.direct.decide(asked, server, client: question.client)) {
            let decided = Self.decision(decision, otherwise: decisions[index])
            // A transaction that was not checked may entitle, whatever the publisher says.
            if decisions[index].isRefused || decided.isEntitled { decisions[index] = decided }
        }
        return decisions
    }

    /// Returns the publisher's decision, or `former`, which the transactions decided, if the publisher grants nothing.
    private static func decision(
        _ decision: DirectEntitlement.Decision,
        otherwise former: EntitlementDecision
    ) -> EntitlementDecision {
        switch decision {
        case .granted: .entitled(by: .publisher)
        case .refused: former
        case .accountRefused:
            .refused(reason: "account_refused", message: "the publisher refuses the account: sign in again")
        case .refusedWhileDown:
            .refused(reason: "publisher_unavailable", message: "the publisher's server does not answer")
        case .unavailable(let delay):
            .unavailable(message: "the publisher's server does not answer: try again later", retryAfter: delay)
        case .tooMany(let refusal): .tooMany(refusal)
        }
    }
}

extension EntitlementDecision {
    fileprivate var isRefused: Bool { if case .refused = self { true } else { false } }

    fileprivate var isEntitled: Bool { if case .entitled = self { true } else { false } }
}

/// The entitlement settings that apply to all apps.
package struct EntitlementSettings: Sendable {
    /// The root certificates for verifying transactions, or `nil` to refuse all transactions. Default `nil`.
    package var roots: AppStoreRoots?
    /// A Boolean value that indicates whether purchases in the sandbox entitle to every product, as App Review
    /// requires. By default they entitle only to products whose ids begin with `dev_test.`.
    package var allowsSandboxPurchases = false
    /// The maximum time for resolving the name of a publisher's server, and then until its response ends. Default 5 s.
    package var deadline: Duration = .seconds(5)
    /// The time for which a cached grant is used without querying the publisher's server again. Default 10 min.
    package var grantTime: Duration = .seconds(600)
    /// The time for which a cached refusal is used without querying the publisher's server again. Default 1 min.
    package var refusalTime: Duration = .seconds(60)
    /// The time for which a grant is remembered, and still valid if the server does not respond. Default 24 h.
    package var knownTime: Duration = .seconds(86_400)
    /// The maximum number of cached verdicts for all apps together. When it is exceeded, the app with the most verdicts
    /// loses its oldest ones. Default 100,000.
    package var maximumAnswers = 100_000
    package var breaker = PublisherBreaker.Limits()

    package init() {}
}
