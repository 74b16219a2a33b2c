/// The settings of entitlement that hold for all apps.
package struct EntitlementSettings: Sendable {
    /// The root certificates of transactions. Default none: transactions are refused.
    package var roots: AppStoreRoots?
    /// `true` lets purchases in the sandbox entitle to every product, as App Review needs it. Default `false`: to those
    /// that begin with `dev_test.` only.
    package var allowsSandboxPurchases = false
    /// The most time to resolve the name of a publisher's server, and again from there to the end of its answer. Default 5 s.
    package var deadline: Duration = .seconds(5)
    /// The time for which a product that a publisher's server has granted needs no question. Default 10 min.
    package var grantTime: Duration = .seconds(600)
    /// The time for which a product that a publisher's server has refused needs no question. Default 1 min.
    package var refusalTime: Duration = .seconds(60)
    /// The time for which a product that was granted counts while the server does not answer. Default 24 h.
    package var knownTime: Duration = .seconds(86_400)
    /// The most answers that are kept, of all apps together; beyond them the app with the most loses its oldest. Default
    /// 100,000.
    package var maximumAnswers = 100_000
    package var breaker = PublisherBreaker.Limits()

    package init() {}
}
