extension BudgetedResource {
    /// The row of this resource, with the default limits.
    package var row: BudgetedResourceRow {
        switch self {
        case .newConnections:
            BudgetedResourceRow(
                noun: "new connections of networks that have shown a key within a day",
                caller: "network",
                limits: BudgetLimits(
                    .init(app: .rate(perSecond: 500, burst: 1000), caller: .rate(perSecond: 250, burst: 500))
                ),
                setting: "serve.connectionRate",
                code: "too_many_connections",
                outcome: "closed as soon as it is accepted"
            )
        case .strangerConnections:
            BudgetedResourceRow(
                noun: "new connections of other networks",
                caller: "network",
                limits: BudgetLimits(
                    .init(whole: .rate(perSecond: 500, burst: 1000), caller: .rate(perSecond: 50, burst: 100))
                ),
                setting: "serve.connectionRate",
                code: "too_many_connections",
                outcome: "closed as soon as it is accepted"
            )
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
        case .responseBytes:
            BudgetedResourceRow(
                noun: "bytes of long responses in memory",
                caller: "API key",
                limits: BudgetLimits(
                    .init(whole: .held(128 << 20), app: .timesFree(2), caller: .timesFree(1))
                ),
                kind: .unavailable,
                code: "too_many_bytes",
                remedy: "read the responses to the others first"
            )
        case .longLists:
            BudgetedResourceRow(
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
        // A message that is forwarded to an address which a stranger names has a place in each of the next three.
        case .forwards:
            BudgetedResourceRow(
                noun: "messages that are being forwarded",
                caller: "client",
                // A stranger who names many hosts has a fifth of what an app can have.
                limits: BudgetLimits(.init(whole: .held(256), app: .timesFree(2), caller: .held(32))),
                kind: .unavailable,
                code: "busy"
            )
        case .hostForwards:
            BudgetedResourceRow(
                noun: "messages that are being forwarded to one host",
                caller: "host",
                limits: BudgetLimits(.init(caller: .held(16))),
                kind: .unavailable,
                code: "busy"
            )
        case .clientHostForwards:
            BudgetedResourceRow(
                noun: "messages that are being forwarded to one host",
                caller: "client",
                // A stranger leaves half of a host to those who need it.
                limits: BudgetLimits(.init(caller: .held(8))),
                kind: .unavailable,
                code: "busy"
            )
        case .followedOutcomes:
            BudgetedResourceRow(
                noun: "tokens of gorush's whose outcomes are followed",
                caller: "app",
                limits: BudgetLimits(.init(whole: .held(500_000), app: .timesFree(1))),
                kind: .unavailable,
                code: "busy",
                outcome: "not followed: logged, and webhooks tell them all the same"
            )
        case .bridgeConnections:
            BudgetedResourceRow(
                noun: "connections of old providers",
                caller: "certificate",
                limits: BudgetLimits(.init(whole: .held(1000), app: .timesFree(2), caller: .timesFree(1))),
                kind: .unavailable,
                code: "busy",
                outcome: "closed with the status *processing error*, after which its client connects again"
            )
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
        case .chatConnections:
            BudgetedResourceRow(
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
        case .nameLookups:
            BudgetedResourceRow(
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
        case .newNameLookups:
            BudgetedResourceRow(
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
        case .webhookPosts:
            BudgetedResourceRow(
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
        case .webhookRetries:
            BudgetedResourceRow(
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
        case .logLines:
            BudgetedResourceRow(
                noun: "log lines",
                caller: "message",
                limits: BudgetLimits(.init(caller: .rate(perSecond: 0.5, burst: 30))),
                kind: .unavailable,
                code: "busy",
                outcome: "left out: the next line of the message that is written has their number"
            )
        }
    }
}
