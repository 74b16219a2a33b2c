import PushStore
import PushSupport

extension AppStore {
    /// Runs queries that count the recipients of an app's notification, on the account of the app.
    ///
    /// - Parameters:
    ///   - budget: The longest time of the processor for one query.
    ///   - givenUpAt: The time at which nobody wants the result any more; `nil` for none.
    func counting<Value: Sendable>(
        app: Int64,
        within budget: Duration,
        givenUpAt: ContinuousClock.Instant? = nil,
        _ body: () async throws -> Value
    ) async throws -> Value {
        let account = BudgetCaller(app: try await self.app(id: app)?.bundleID)
        let caller = QueryCaller(budget: budget, purpose: .acceptance, account: account, givenUpAt: givenUpAt)
        return try await QueryCaller.$current.withValue(caller, operation: body)
    }

    /// Counts as ``counting(app:within:givenUpAt:_:)`` does, for a request that waits for the result.
    /// - Parameter budget: The longest time of all queries together, with the time for which they wait.
    /// - Returns: `nil` if they take longer, or others have to be counted first.
    func countingQuickly<Value: Sendable>(
        app: Int64,
        within budget: Duration,
        _ body: () async throws -> Value
    ) async throws -> Value? {
        do {
            return try await self.counting(app: app, within: budget, givenUpAt: .now + budget, body)
        } catch StoreError.queryTooExpensive, StoreError.queryInterrupted {
            return nil
        } catch is BudgetRefusal {
            return nil
        }
    }
}
