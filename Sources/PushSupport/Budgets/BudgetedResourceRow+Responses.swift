/// The rows of long responses.
extension BudgetedResourceRow {
    static let responseBytes = BudgetedResourceRow(
        noun: "bytes of long responses in memory",
        caller: "API key",
        limits: BudgetLimits(
            .init(whole: .held(128 << 20), app: .timesFree(2), caller: .timesFree(1))
        ),
        kind: .unavailable,
        code: "too_many_bytes",
        remedy: "read the responses to the others first"
    )

    static let longLists = BudgetedResourceRow(
        noun: "long lists that are being encoded",
        caller: "API key",
        limits: BudgetLimits(
            .init(whole: .held(1)),
            waiting: .init(whole: 128, app: 64, caller: 32),
            patience: .seconds(10)
        ),
        code: "too_many_requests",
        remedy: "wait for the responses to the others"
    )
}
