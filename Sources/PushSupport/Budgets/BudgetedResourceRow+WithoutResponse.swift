/// The rows of what no response to a request refuses.
extension BudgetedResourceRow {
    static let newConnections = BudgetedResourceRow(
        noun: "new connections of networks that have shown a key within a day",
        caller: "network",
        limits: BudgetLimits(
            .init(app: .rate(perSecond: 500, burst: 1000), caller: .rate(perSecond: 250, burst: 500))
        ),
        setting: "serve.connectionRate",
        code: "too_many_connections",
        outcome: "closed as soon as it is accepted"
    )

    static let strangerConnections = BudgetedResourceRow(
        noun: "new connections of other networks",
        caller: "network",
        limits: BudgetLimits(
            .init(whole: .rate(perSecond: 500, burst: 1000), caller: .rate(perSecond: 50, burst: 100))
        ),
        setting: "serve.connectionRate",
        code: "too_many_connections",
        outcome: "closed as soon as it is accepted"
    )

    static let followedOutcomes = BudgetedResourceRow(
        noun: "tokens of gorush's whose outcomes are followed",
        caller: "app",
        limits: BudgetLimits(.init(whole: .held(500_000), app: .timesFree(1))),
        kind: .unavailable,
        code: "busy",
        outcome: "not followed: logged, and webhooks tell them all the same"
    )

    static let bridgeConnections = BudgetedResourceRow(
        noun: "connections of old providers",
        caller: "certificate",
        limits: BudgetLimits(.init(whole: .held(1000), app: .timesFree(2), caller: .timesFree(1))),
        kind: .unavailable,
        code: "busy",
        outcome: "closed with the status *processing error*, after which its client connects again"
    )

    static let chatConnections = BudgetedResourceRow(
        noun: "connections to chat servers",
        caller: "app",
        limits: BudgetLimits(
            // Half of the limit of open files, where that is known.
            .init(whole: .held(20_000), app: .timesFree(2)),
            // An app has 10,000 sessions at most. Those that have ended keep their places here until their turn.
            waiting: .init(whole: 100_000, app: 20_000),
            patience: .seconds(3600)
        ),
        kind: .unavailable,
        code: "busy",
        outcome: "waits its turn"
    )

    static let nameLookups = BudgetedResourceRow(
        noun: "names that are looked up",
        caller: "giver in an app",
        limits: BudgetLimits(
            .init(whole: .held(8), caller: .held(2)),
            waiting: .init(caller: 256),
            patience: .seconds(30)
        ),
        kind: .unavailable,
        code: "busy",
        outcome: "its request fails, which counts as no failure of its receiver"
    )

    static let newNameLookups = BudgetedResourceRow(
        noun: "names of users and strangers, or never found before, that are looked up",
        caller: "giver in an app",
        limits: BudgetLimits(
            .init(whole: .held(6), caller: .held(2)),
            waiting: .init(caller: 256),
            patience: .seconds(30)
        ),
        kind: .unavailable,
        code: "busy",
        outcome: "its request fails, which counts as no failure of its receiver"
    )

    static let webhookPosts = BudgetedResourceRow(
        noun: "runs of posts to webhooks",
        caller: "webhook",
        limits: BudgetLimits(
            .init(whole: .held(16), app: .timesFree(2), caller: .held(1)),
            waiting: .init(),
            patience: .seconds(3600)
        ),
        kind: .unavailable,
        code: "busy",
        outcome: "waits its turn"
    )

    static let webhookRetries = BudgetedResourceRow(
        noun: "runs of posts to webhooks that have failed",
        caller: "webhook",
        limits: BudgetLimits(
            .init(whole: .held(8), app: .timesFree(1), caller: .held(1)),
            waiting: .init(),
            patience: .seconds(3600)
        ),
        kind: .unavailable,
        code: "busy",
        outcome: "waits its turn"
    )

    static let logLines = BudgetedResourceRow(
        noun: "log lines",
        caller: "message",
        limits: BudgetLimits(.init(caller: .rate(perSecond: 0.5, burst: 30))),
        kind: .unavailable,
        code: "busy",
        outcome: "left out: the next line of the message that is written has their number"
    )
}
