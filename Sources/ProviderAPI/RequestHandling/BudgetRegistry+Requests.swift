package import Foundation
package import NIOCore
import PushHTTP
package import PushSupport
package import PushTypes

extension BudgetRegistry {
    /// Charges a request to its caller, whose rate limit, if it has one, replaces the default.
    /// - Throws: ``BudgetRefusal`` if the rate is exceeded.
    package func countRequest(of caller: APICaller) throws(BudgetRefusal) {
        var account = caller.account
        account.rate = caller.rate.map(Double.init)
        try self[.requests].spend(for: account)
    }

    /// Charges a request with a public key to the client's site, which is its IPv4 address or the first 48 bits of its
    /// IPv6 address. Behind a local proxy, nothing is charged.
    /// - Throws: ``BudgetRefusal`` if the rate of the site is exceeded.
    package func countPublicRequest(from channel: any Channel) throws(BudgetRefusal) {
        guard let client = BudgetCaller(from: channel) else { return }
        try self[.publicRequests].spend(for: client.site)
    }

    /// Charges a registration form to the client's site (``BudgetCaller/site``).
    /// - Throws: ``BudgetRefusal`` if the rate of the site is exceeded.
    package func countForm(of client: BudgetCaller) throws(BudgetRefusal) { try self[.forms].spend(for: client.site) }

    /// Charges a request that contained a bridge's secret to the bridge's app. This budget is separate from that of
    /// forms, which anyone can submit.
    /// - Throws: ``BudgetRefusal`` if the rate of the app is exceeded.
    package func countBridgeRequest(of app: Topic) throws(BudgetRefusal) {
        try self[.bridgeRequests].spend(for: BudgetCaller(app: app))
    }

    /// Charges a request body to an account, and waits until the account's rate for long bodies allows it. Short bodies
    /// do not wait.
    package func pace(_ body: Data, of account: BudgetCaller) async throws {
        let delay = try self.bodyDelay(of: account, bytes: body.count)
        if delay > .zero { try await Task.sleep(for: delay, clock: .continuous) }
    }

    /// Charges a request body to an account, and returns the time to wait before the body is parsed, which is zero for
    /// a short body. Parsing a megabyte costs more than many small requests.
    package func bodyDelay(of account: BudgetCaller, bytes: Int) throws(BudgetRefusal) -> Duration {
        guard bytes > Budget.uncountedBodyLength else { return .zero }
        return try self[.longBodies].owe(bytes, for: account)
    }
}

extension TimeSource {
    /// The steady clock as a function that returns instants, for state machines that receive instants.
    package var instants: @Sendable () -> ContinuousClock.Instant {
        let (start, first) = (ContinuousClock.now, self.steady)
        return { start.advanced(by: self.steady.since(first)) }
    }
}
