extension BudgetedResource {
    /// The row of this resource, with its default limits.
    package var row: BudgetedResourceRow {
        switch self {
        case .newConnections: .newConnections
        case .strangerConnections: .strangerConnections
        case .connections:
            BudgetedResourceRow(
                noun: "connections",
                caller: "client",
                limits: BudgetLimits(.init(whole: .held(1000), app: .timesFree(2), caller: .timesFree(1))),
                setting: "serve.connections",
                kind: .unavailable,
                code: "too_many_connections"
            )
        case .requests:
            BudgetedResourceRow(
                noun: "requests",
                caller: "API key",
                limits: BudgetLimits(.init(caller: .rate(perSecond: 1000, burst: 2000))),
                setting: "serve.keyRate",
                code: "too_many_requests",
                remedy: "send fewer, or in batches"
            )
        case .publicRequests:
            BudgetedResourceRow(
                noun: "requests with a public key",
                caller: "address",
                limits: BudgetLimits(.init(caller: .rate(perSecond: 20, burst: 40))),
                setting: "serve.publicKeyRate",
                code: "too_many_requests",
                remedy: "try again later"
            )
        case .forms:
            BudgetedResourceRow(
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
            BudgetedResourceRow(
                noun: "requests of its bridges",
                caller: "app",
                limits: BudgetLimits(.init(app: .rate(perSecond: 1000, burst: 2000))),
                setting: "serve.keyRate",
                code: "too_many_requests",
                remedy: "send fewer, or in batches"
            )
        case .longBodies:
            BudgetedResourceRow(
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
            BudgetedResourceRow(
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
            BudgetedResourceRow(
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
            BudgetedResourceRow(
                noun: "milliseconds of first attempts at queries",
                caller: "API key",
                limits: BudgetLimits(
                    .init(app: .rate(perSecond: 400, burst: 500), caller: .rate(perSecond: 200, burst: 250))
                ),
                code: "too_many_queries"
            )
        case .exports:
            BudgetedResourceRow(
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
            BudgetedResourceRow(
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
            BudgetedResourceRow(
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
            BudgetedResourceRow(
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
            BudgetedResourceRow(
                noun: "live pages",
                caller: "person",
                limits: BudgetLimits(.init(whole: .held(200), caller: .held(4))),
                code: "too_many_pages",
                remedy: "close other tabs"
            )
        case .credentialTests:
            BudgetedResourceRow(
                noun: "tests of credentials",
                caller: "app",
                limits: BudgetLimits(.init(app: .rate(perSecond: 0.2, burst: 10), caller: .held(1))),
                code: "too_many_tests"
            )
        case .receipts:
            BudgetedResourceRow(
                noun: "receipts that wait to be written",
                caller: "app",
                limits: BudgetLimits(.init(whole: .held(20_000), app: .held(5000))),
                kind: .unavailable,
                code: "too_many_receipts",
                remedy: "send them again later",
                delay: .seconds(4)
            )
        case .downloads:
            BudgetedResourceRow(
                noun: "open downloads",
                caller: "address",
                limits: BudgetLimits(.init(whole: .held(500), app: .timesFree(2), caller: .timesFree(1))),
                setting: "serve.publishing.downloads",
                kind: .unavailable,
                code: "too_many_downloads",
                delay: .seconds(9)
            )
        case .uploads:
            BudgetedResourceRow(
                noun: "uploads that are being received",
                caller: "app",
                limits: BudgetLimits(.init(whole: .held(200), app: .timesFree(2))),
                kind: .unavailable,
                code: "too_many_upload_requests",
                remedy: "send fewer at a time",
                delay: .seconds(5)
            )
        case .uploadedBytes:
            BudgetedResourceRow(
                noun: "bytes of uploads that are being received",
                caller: "app",
                limits: BudgetLimits(.init(app: .timesFree(2))),
                kind: .unavailable,
                code: "too_many_upload_bytes",
                remedy: "wait until some of its uploads are complete, or send the file in parts",
                delay: .seconds(10)
            )
        case .entitlementQuestions:
            BudgetedResourceRow(
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
            BudgetedResourceRow(
                noun: "devices in requests",
                caller: "address",
                limits: BudgetLimits(.init(caller: .rate(perSecond: 1000, burst: 2000))),
                setting: "serve.homeserverRate",
                code: "M_LIMIT_EXCEEDED"
            )
        case .matrixBytes:
            BudgetedResourceRow(
                noun: "bytes of requests in flight",
                caller: "address",
                limits: BudgetLimits(.init(whole: .held(32 << 20), app: .timesFree(2), caller: .timesFree(1))),
                code: "M_LIMIT_EXCEEDED"
            )
        case .matrixPushes:
            BudgetedResourceRow(
                noun: "pushes",
                caller: "pushkey",
                limits: BudgetLimits(.init(caller: .rate(perSecond: 20, burst: 200))),
                code: "M_LIMIT_EXCEEDED"
            )
        case .pushMessages:
            BudgetedResourceRow(
                noun: "messages that are being accepted",
                caller: "address",
                limits: BudgetLimits(.init(app: .held(512), caller: .held(128))),
                kind: .unavailable,
                code: "busy"
            )
        case .resourceMessages:
            BudgetedResourceRow(
                noun: "messages",
                caller: "subscription",
                limits: BudgetLimits(.init(caller: .rate(perSecond: 5, burst: 100))),
                code: "too_many_requests"
            )
        case .addressMessages:
            BudgetedResourceRow(
                noun: "messages",
                caller: "address",
                limits: BudgetLimits(.init(caller: .rate(perSecond: 1000, burst: 2000))),
                setting: "serve.keyRate",
                code: "too_many_requests"
            )
        case .unknownTargets:
            BudgetedResourceRow(
                noun: "requests to what does not exist",
                caller: "address",
                limits: BudgetLimits(.init(caller: .rate(perSecond: 5, burst: 50))),
                code: "too_many_requests"
            )
        case .wrongSecrets:
            BudgetedResourceRow(
                noun: "requests with a wrong secret",
                caller: "address",
                limits: BudgetLimits(.init(caller: .rate(perSecond: 1, burst: 20))),
                code: "too_many_requests"
            )
        case .unknownTokens:
            BudgetedResourceRow(
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
            BudgetedResourceRow(
                noun: "registrations over XMPP",
                caller: "domain",
                limits: BudgetLimits(
                    .init(app: .rate(perSecond: 50, burst: 500), caller: .rate(perSecond: 5, burst: 50))
                ),
                code: "resource-constraint"
            )
        case .chatPushes:
            BudgetedResourceRow(
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
            BudgetedResourceRow(
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
