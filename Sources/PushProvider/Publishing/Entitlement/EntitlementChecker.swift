package import Logging
package import PushStore
package import PushSupport
package import PushTypes

/// Decides about entitlement by transactions of the App Store and by publishers' servers.
///
/// Transactions come first: they are checked offline. The publisher's server is asked only about what they do not decide.
package struct EntitlementChecker: Sendable {
    let store: any EntitlementServerStore & PublishingStore
    let verifier: TransactionVerifier
    let allowsSandbox: Bool
    let direct: DirectEntitlement
    /// The budget of wrong secrets, of which certificates that are made up are some.
    let wrong: Budget
    private let client: PublisherClient
    let time: any TimeSource
    let log: RateLimitedLog

    /// - Parameters:
    ///   - addresses: The addresses that publishers' servers may have.
    ///   - questions: The budget of questions to publishers' servers.
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

    /// The ways in which somebody can be entitled to retail issues of an app.
    package struct Grounds: Hashable, Sendable {
        /// Indicates whether the provider has a root certificate of the App Store.
        package let hasAppStoreRoot: Bool
        /// Indicates whether purchases in the sandbox entitle to issues of production.
        package let allowsSandboxPurchases: Bool
        /// Indicates whether the app has a publisher's server.
        package let hasServer: Bool
    }

    /// Returns the ways in which somebody can be entitled to retail issues of an app.
    package func grounds(app: Int64) async throws -> Grounds {
        Grounds(
            hasAppStoreRoot: self.verifier.hasRoots,
            allowsSandboxPurchases: self.allowsSandbox,
            hasServer: try await self.store.entitlementServer(app: app) != nil
        )
    }

    /// Asks a publisher's server as it is set up, beside cache and breaker, and returns the exchange without secrets.
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
