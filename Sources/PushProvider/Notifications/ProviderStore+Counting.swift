import PushStore
import PushSupport

extension ProviderStore {
    /// Runs queries that count the recipients of an app's notification, on the account of the app.
    ///
    /// - Parameter budget: The longest time of one query, without the time for which it waits.
    func counting<Value: Sendable>(
        app: Int64,
        within budget: Duration,
        _ body: () async throws -> Value
    ) async throws -> Value {
        let account = BudgetCaller(app: try await self.app(id: app)?.bundleID)
        let caller = QueryCaller(budget: budget, purpose: .acceptance, account: account)
        return try await QueryCaller.$current.withValue(caller, operation: body)
    }

    /// As ``counting(app:within:_:)``, where the result is worth no wait.
    /// - Returns: `nil` if a query takes longer than its budget, or others have to be counted first.
    func countingQuickly<Value: Sendable>(
        app: Int64,
        within budget: Duration,
        _ body: () async throws -> Value
    ) async throws -> Value? {
        do {
            return try await self.counting(app: app, within: budget, body)
        } catch StoreError.queryTooExpensive {
            return nil
        } catch is BudgetRefusal {
            return nil
        }
    }
}
