/// The rows of messages that are forwarded to addresses which strangers name. A message has a place in each.
extension BudgetedResourceRow {
    static let forwards = BudgetedResourceRow(
        noun: "messages that are being forwarded",
        caller: "client",
        // A stranger who names many hosts has a fifth of what an app can have.
        limits: BudgetLimits(.init(whole: .held(256), app: .timesFree(2), caller: .held(32))),
        kind: .unavailable,
        code: "busy"
    )

    static let hostForwards = BudgetedResourceRow(
        noun: "messages that are being forwarded to one host",
        caller: "host",
        limits: BudgetLimits(.init(caller: .held(16))),
        kind: .unavailable,
        code: "busy"
    )

    static let clientHostForwards = BudgetedResourceRow(
        noun: "messages that are being forwarded to one host",
        caller: "client",
        // A stranger leaves half of a host to those who need it.
        limits: BudgetLimits(.init(caller: .held(8))),
        kind: .unavailable,
        code: "busy"
    )
}
