extension Resource {
    /// The row of this resource, with its default limits.
    package var row: ResourceRow {
        switch self {
        case .newConnections: .newConnections
        case .strangerConnections: .strangerConnections
        case .connections:
            ResourceRow(
                noun: "connections",
                caller: "client",
                limits: BudgetLimits(.init(whole: .held(1000), app: .timesFree(2), caller: .timesFree(1))),
                setting: "serve.connections",
                kind: .unavailable,
                code: "too_many_connections"
            )
        case .requests:
            ResourceRow(
                noun: "requests",
                caller: "API key",
                limits: BudgetLimits(.init(caller: .rate(perSecond: 1000, burst: 2000))),
                setting: "serve.keyRate",
                code: "too_many_requests",
                remedy: "send fewer, or in batches"
            )
        case .publicRequests:
            ResourceRow(
                noun: "requests with a public key",
                caller: "address",
                limits: BudgetLimits(.init(caller: .rate(perSecond: 20, burst: 40))),
                setting: "serve.publicKeyRate",
                code: "too_many_requests",
                remedy: "try again later"
            )
        case .forms:
            ResourceRow(
                noun: "forms",
                caller: "address",
                limits: BudgetLimits(
                    .init(app: .rate(perSecond: 1000, burst: 2000), caller: .rate(perSecond: 100, burst: 200))
                ),
                setting: "serve.keyRate",
                code: "too_many_requests",
                remedy: "try again later"
            )
        case .bridgeRequests:
            ResourceRow(
                noun: "requests of its bridges",
                caller: "app",
                limits: BudgetLimits(.init(app: .rate(perSecond: 1000, burst: 2000))),
                setting: "serve.keyRate",
                code: "too_many_requests",
                remedy: "send fewer, or in batches"
            )
        case .longBodies:
            ResourceRow(
                noun: "bytes of long bodies",
                caller: "API key",
                limits: BudgetLimits(
                    // An app may have many keys.
                    .init(
                        app: .rate(perSecond: 8_388_608, burst: 8_388_608),
                        caller: .rate(perSecond: 8_388_608, burst: 8_388_608)
                    ),
                    patience: .seconds(5)
                ),
                code: "too_many_bytes",
                remedy: "send fewer, or an import"
            )
        case .bodyBytes:
            ResourceRow(
                noun: "bytes of long bodies in memory",
                caller: "caller",
                limits: BudgetLimits(
                    .init(whole: .held(128 << 20), app: .timesFree(2), caller: .timesFree(1))
                ),
                kind: .unavailable,
                code: "too_many_bytes",
                remedy: "wait for the responses to the others"
            )
        case .responseBytes: .responseBytes
        case .longLists: .longLists
        case .queries:
            ResourceRow(
                noun: "long queries",
                caller: "API key",
                limits: BudgetLimits(
                    .init(whole: .held(1)),
                    waiting: .init(whole: 64, app: 12, caller: 4),
                    // Longer than the longest query, so that what is next has its turn.
                    patience: .seconds(15)
                ),
                code: "too_many_queries",
                remedy: "wait for the responses to the others"
            )
        case .queryAttempts:
            ResourceRow(
                noun: "milliseconds of first attempts at queries",
                caller: "API key",
                limits: BudgetLimits(
                    .init(app: .rate(perSecond: 400, burst: 500), caller: .rate(perSecond: 200, burst: 250))
                ),
                code: "too_many_queries"
            )
        case .exports:
            ResourceRow(
                noun: "pages of exports",
                caller: "API key",
                limits: BudgetLimits(
                    .init(whole: .held(1)),
                    waiting: .init(whole: 64, app: 16, caller: 8),
                    patience: .seconds(10)
                ),
                code: "too_many_queries"
            )
        case .counts:
            ResourceRow(
                noun: "counts of recipients",
                caller: "app",
                limits: BudgetLimits(
                    .init(whole: .held(1)),
                    waiting: .init(whole: 64, app: 16),
                    patience: .seconds(10)
                ),
                code: "too_many_queries"
            )
        case .hashes:
            ResourceRow(
                noun: "passwords from known networks that are checked",
                caller: "network",
                limits: BudgetLimits(
                    .init(whole: .held(1)),
                    waiting: .init(whole: 64, caller: 16),
                    patience: .seconds(10)
                ),
                code: "busy",
                delay: .seconds(2)
            )
        case .strangerHashes:
            ResourceRow(
                noun: "passwords from unknown networks that are checked",
                caller: "network",
                limits: BudgetLimits(
                    .init(whole: .held(1)),
                    waiting: .init(whole: 14, caller: 2),
                    patience: .seconds(10)
                ),
                code: "busy",
                delay: .seconds(5)
            )
        case .livePages:
            ResourceRow(
                noun: "live pages",
                caller: "person",
                limits: BudgetLimits(.init(whole: .held(200), caller: .held(4))),
                code: "too_many_pages",
                remedy: "close other tabs"
            )
        case .credentialTests:
            ResourceRow(
                noun: "tests of credentials",
                caller: "app",
                limits: BudgetLimits(.init(app: .rate(perSecond: 0.2, burst: 10), caller: .held(1))),
                code: "too_many_tests"
            )
        case .receipts:
            ResourceRow(
                noun: "receipts that wait to be written",
                caller: "app",
                limits: BudgetLimits(.init(whole: .held(20_000), app: .held(5000))),
                kind: .unavailable,
                code: "too_many_receipts",
                remedy: "send them again later",
                delay: .seconds(4)
            )
        case .downloads:
            ResourceRow(
                noun: "open downloads",
                caller: "address",
                limits: BudgetLimits(.init(whole: .held(500), app: .timesFree(2), caller: .timesFree(1))),
                setting: "serve.publishing.downloads",
                kind: .unavailable,
                code: "too_many_downloads",
                delay: .seconds(9)
            )
        case .uploads:
            ResourceRow(
                noun: "uploads that are being received",
                caller: "app",
                limits: BudgetLimits(.init(whole: .held(200), app: .timesFree(2))),
                kind: .unavailable,
                code: "too_many_upload_requests",
                remedy: "send fewer at a time",
                delay: .seconds(5)
            )
        case .uploadedBytes:
            ResourceRow(
                noun: "bytes of uploads that are being received",
                caller: "app",
                limits: BudgetLimits(.init(app: .timesFree(2))),
                kind: .unavailable,
                code: "too_many_upload_bytes",
                remedy: "wait until some of its uploads are complete, or send the file in parts",
                delay: .seconds(10)
            )
        case .entitlementQuestions:
            ResourceRow(
                noun: "questions to the publisher's server",
                caller: "client",
                limits: BudgetLimits(
                    .init(app: .held(32), caller: .held(4)),
                    waiting: .init(app: 256, caller: 16),
                    patience: .seconds(5)
                ),
                kind: .unavailable,
                code: "too_many_questions",
                delay: .seconds(2)
            )
        case .matrixRequests:
            ResourceRow(
                noun: "devices in requests",
                caller: "address",
                limits: BudgetLimits(.init(caller: .rate(perSecond: 1000, burst: 2000))),
                setting: "serve.homeserverRate",
                code: "M_LIMIT_EXCEEDED"
            )
        case .matrixBytes:
            ResourceRow(
                noun: "bytes of requests in flight",
                caller: "address",
                limits: BudgetLimits(.init(whole: .held(32 << 20), app: .timesFree(2), caller: .timesFree(1))),
                code: "M_LIMIT_EXCEEDED"
            )
        case .matrixPushes:
            ResourceRow(
                noun: "pushes",
                caller: "pushkey",
                limits: BudgetLimits(.init(caller: .rate(perSecond: 20, burst: 200))),
                code: "M_LIMIT_EXCEEDED"
            )
        case .pushMessages:
            ResourceRow(
                noun: "messages that are being accepted",
                caller: "address",
                limits: BudgetLimits(.init(app: .held(512), caller: .held(128))),
                kind: .unavailable,
                code: "busy"
            )
        case .resourceMessages:
            ResourceRow(
                noun: "messages",
                caller: "subscription",
                limits: BudgetLimits(.init(caller: .rate(perSecond: 5, burst: 100))),
                code: "too_many_requests"
            )
        case .addressMessages:
            ResourceRow(
                noun: "messages",
                caller: "address",
                limits: BudgetLimits(.init(caller: .rate(perSecond: 1000, burst: 2000))),
                setting: "serve.keyRate",
                code: "too_many_requests"
            )
        case .unknownTargets:
            ResourceRow(
                noun: "requests to what does not exist",
                caller: "address",
                limits: BudgetLimits(.init(caller: .rate(perSecond: 5, burst: 50))),
                code: "too_many_requests"
            )
        case .wrongSecrets:
            ResourceRow(
                noun: "requests with a wrong secret",
                caller: "address",
                limits: BudgetLimits(.init(caller: .rate(perSecond: 1, burst: 20))),
                code: "too_many_requests"
            )
        case .unknownTokens:
            ResourceRow(
                noun: "pushes to tokens that are not registered and were never reached",
                caller: "address",
                limits: BudgetLimits(
                    // A few addresses that take all they can leave most of it.
                    .init(app: .rate(perSecond: 100, burst: 2000), caller: .rate(perSecond: 5, burst: 200))
                ),
                code: "too_many_requests"
            )
        case .forwards: .forwards
        case .hostForwards: .hostForwards
        case .clientHostForwards: .clientHostForwards
        case .followedOutcomes: .followedOutcomes
        case .bridgeConnections: .bridgeConnections
        case .componentRegistrations:
            ResourceRow(
                noun: "registrations over XMPP",
                caller: "domain",
                limits: BudgetLimits(
                    .init(app: .rate(perSecond: 50, burst: 500), caller: .rate(perSecond: 5, burst: 50))
                ),
                code: "resource-constraint"
            )
        case .chatPushes:
            ResourceRow(
                noun: "pushes of chat sessions that wait",
                caller: "app",
                limits: BudgetLimits(
                    .init(whole: .held(10_000), app: .timesFree(2)),
                    // A session with one that waits reads nothing more.
                    waiting: .init(),
                    patience: .seconds(3600)
                ),
                kind: .unavailable,
                code: "busy"
            )
        case .chatConnections: .chatConnections
        case .chatSignIns:
            ResourceRow(
                noun: "chat sessions that sign in",
                caller: "server",
                limits: BudgetLimits(
                    .init(whole: .held(32), app: .timesFree(2), caller: .timesFree(1)),
                    waiting: .init(whole: 100_000),
                    patience: .seconds(3600)
                ),
                kind: .unavailable,
                code: "busy"
            )
        case .nameLookups: .nameLookups
        case .newNameLookups: .newNameLookups
        case .webhookPosts: .webhookPosts
        case .webhookRetries: .webhookRetries
        case .logLines: .logLines
        }
    }
}
