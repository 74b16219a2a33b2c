extension BudgetedResource {
    /// The row of this resource in the table of `docs/security.md`, with the default limits.
    package var row: BudgetedResourceRow {
        // The bytes per second of an app, which may have many keys, and of each key.
        let longBodies = BudgetBound.rate(perSecond: 8_388_608, burst: 8_388_608)
        return switch self {
        case .newConnections:
            .init(
                "new connections of networks that have shown a key within a day",
                of: "network",
                "too_many_connections"
            )
            .bounded(app: .rate(perSecond: 500, burst: 1000), caller: .rate(perSecond: 250, burst: 500))
            .set(by: "serve.connectionRate").outcome("closed as soon as it is accepted")
        case .strangerConnections:
            .init("new connections of other networks", of: "network", "too_many_connections")
                .bounded(whole: .rate(perSecond: 500, burst: 1000), caller: .rate(perSecond: 50, burst: 100))
                .set(by: "serve.connectionRate").outcome("closed as soon as it is accepted")
        case .connections:
            .init("connections", of: "client", "too_many_connections", .unavailable)
                .bounded(whole: .held(1000), app: .timesFree(2), caller: .timesFree(1)).set(by: "serve.connections")
        case .requests:
            .init("requests", of: "API key", "too_many_requests")
                .bounded(caller: .rate(perSecond: 1000, burst: 2000)).set(by: "serve.keyRate")
                .remedy("send fewer, or in batches")
        case .publicRequests:
            .init("requests with a public key", of: "address", "too_many_requests")
                .bounded(caller: .rate(perSecond: 20, burst: 40)).set(by: "serve.publicKeyRate")
                .remedy("try again later")
        case .forms:
            .init("forms", of: "address", "too_many_requests")
                .bounded(app: .rate(perSecond: 1000, burst: 2000), caller: .rate(perSecond: 100, burst: 200))
                .set(by: "serve.keyRate").remedy("try again later")
        case .bridgeRequests:
            .init("requests of its bridges", of: "app", "too_many_requests")
                .bounded(app: .rate(perSecond: 1000, burst: 2000)).set(by: "serve.keyRate")
                .remedy("send fewer, or in batches")
        case .longBodies:
            .init("bytes of long bodies", of: "API key", "too_many_bytes")
                .bounded(app: longBodies, caller: longBodies).patience(.seconds(5)).remedy("send fewer, or an import")
        case .bodyBytes:
            .init("bytes of long bodies in memory", of: "caller", "too_many_bytes", .unavailable)
                .bounded(whole: .held(128 << 20), app: .timesFree(2), caller: .timesFree(1))
                .remedy("wait for the responses to the others")
        case .responseBytes:
            .init("bytes of long responses in memory", of: "API key", "too_many_bytes", .unavailable)
                .bounded(whole: .held(128 << 20), app: .timesFree(2), caller: .timesFree(1))
                .remedy("read the responses to the others first")
        case .longLists:
            .init("long lists that are being encoded", of: "API key", "too_many_requests")
                .bounded(whole: .held(1)).waiting(whole: 128, app: 64, caller: 32, for: .seconds(10))
                .remedy("wait for the responses to the others")
        case .queries:
            // The patience is longer than the longest query, so that the next request has its turn.
            .init("long queries", of: "API key", "too_many_queries").bounded(whole: .held(1))
                .waiting(whole: 64, app: 12, caller: 4, for: .seconds(15))
                .remedy("wait for the responses to the others")
        case .queryAttempts:
            .init("milliseconds of first attempts at queries", of: "API key", "too_many_queries")
                .bounded(app: .rate(perSecond: 400, burst: 500), caller: .rate(perSecond: 200, burst: 250))
        case .exports:
            .init("pages of exports", of: "API key", "too_many_queries").bounded(whole: .held(1))
                .waiting(whole: 64, app: 16, caller: 8, for: .seconds(10))
        case .counts:
            .init("counts of recipients", of: "app", "too_many_queries").bounded(whole: .held(1))
                .waiting(whole: 64, app: 16, for: .seconds(10))
        case .hashes:
            .init("passwords from known networks that are checked", of: "network", "busy")
                .bounded(whole: .held(1)).waiting(whole: 64, caller: 16, for: .seconds(10)).retry(after: .seconds(2))
        case .strangerHashes:
            .init("passwords from unknown networks that are checked", of: "network", "busy")
                .bounded(whole: .held(1)).waiting(whole: 14, caller: 2, for: .seconds(10)).retry(after: .seconds(5))
        case .livePages:
            .init("live pages", of: "person", "too_many_pages")
                .bounded(whole: .held(200), caller: .held(4)).remedy("close other tabs")
        case .credentialTests:
            .init("tests of credentials", of: "app", "too_many_tests")
                .bounded(app: .rate(perSecond: 0.2, burst: 10), caller: .held(1))
        case .receipts:
            .init("receipts that wait to be written", of: "app", "too_many_receipts", .unavailable)
                .bounded(whole: .held(20_000), app: .held(5000)).remedy("send them again later")
                .retry(after: .seconds(4))
        case .downloads:
            .init("open downloads", of: "address", "too_many_downloads", .unavailable)
                .bounded(whole: .held(500), app: .timesFree(2), caller: .timesFree(1))
                .set(by: "serve.publishing.downloads").retry(after: .seconds(9))
        case .uploads:
            .init("uploads that are being received", of: "app", "too_many_upload_requests", .unavailable)
                .bounded(whole: .held(200), app: .timesFree(2)).remedy("send fewer at a time")
                .retry(after: .seconds(5))
        case .uploadedBytes:
            .init("bytes of uploads that are being received", of: "app", "too_many_upload_bytes", .unavailable)
                .bounded(app: .timesFree(2))
                .remedy("wait until some of its uploads are complete, or send the file in parts")
                .retry(after: .seconds(10))
        case .entitlementQuestions:
            .init("questions to the publisher's server", of: "client", "too_many_questions", .unavailable)
                .bounded(app: .held(32), caller: .held(4)).waiting(app: 256, caller: 16, for: .seconds(5))
                .retry(after: .seconds(2))
        case .matrixRequests:
            .init("devices in requests", of: "address", "M_LIMIT_EXCEEDED")
                .bounded(caller: .rate(perSecond: 1000, burst: 2000)).set(by: "serve.homeserverRate")
        case .matrixBytes:
            .init("bytes of requests in flight", of: "address", "M_LIMIT_EXCEEDED")
                .bounded(whole: .held(32 << 20), app: .timesFree(2), caller: .timesFree(1))
        case .matrixPushes:
            .init("pushes", of: "pushkey", "M_LIMIT_EXCEEDED")
                .bounded(caller: .rate(perSecond: 20, burst: 200))
        case .pushMessages:
            .init("messages that are being accepted", of: "address", "busy", .unavailable)
                .bounded(app: .held(512), caller: .held(128))
        case .resourceMessages:
            .init("messages", of: "subscription", "too_many_requests")
                .bounded(caller: .rate(perSecond: 5, burst: 100))
        case .addressMessages:
            .init("messages", of: "address", "too_many_requests")
                .bounded(caller: .rate(perSecond: 1000, burst: 2000)).set(by: "serve.keyRate")
        case .unknownTargets:
            .init("requests to what does not exist", of: "address", "too_many_requests")
                .bounded(caller: .rate(perSecond: 5, burst: 50))
        case .wrongSecrets:
            .init("requests with a wrong secret", of: "address", "too_many_requests")
                .bounded(caller: .rate(perSecond: 1, burst: 20))
        case .unknownTokens:
            // A few addresses that take all they can leave most of it.
            .init("pushes to tokens that are not registered and were never reached", of: "address", "too_many_requests")
                .bounded(app: .rate(perSecond: 100, burst: 2000), caller: .rate(perSecond: 5, burst: 200))
        // A message that is forwarded to an address which a stranger names has a place in each of the next three.
        case .forwards:
            // A stranger who names many hosts has a fifth of what an app can have.
            .init("messages that are being forwarded", of: "client", "busy", .unavailable)
                .bounded(whole: .held(256), app: .timesFree(2), caller: .held(32))
        case .hostForwards:
            .init("messages that are being forwarded to one host", of: "host", "busy", .unavailable)
                .bounded(caller: .held(16))
        case .clientHostForwards:
            // A stranger leaves half of a host to those who need it.
            .init("messages that are being forwarded to one host", of: "client", "busy", .unavailable)
                .bounded(caller: .held(8))
        case .followedOutcomes:
            .init("tokens of gorush's whose outcomes are followed", of: "app", "busy", .unavailable)
                .bounded(whole: .held(500_000), app: .timesFree(1))
                .outcome("not followed: logged, and webhooks tell them all the same")
        case .bridgeConnections:
            .init("connections of old providers", of: "certificate", "busy", .unavailable)
                .bounded(whole: .held(1000), app: .timesFree(2), caller: .timesFree(1))
                .outcome("closed with the status *processing error*, after which its client connects again")
        case .componentRegistrations:
            .init("registrations over XMPP", of: "domain", "resource-constraint")
                .bounded(app: .rate(perSecond: 50, burst: 500), caller: .rate(perSecond: 5, burst: 50))
        case .chatPushes:
            // A session with a push that waits reads nothing more.
            .init("pushes of chat sessions that wait", of: "app", "busy", .unavailable)
                .bounded(whole: .held(10_000), app: .timesFree(2)).waiting(for: .seconds(3600))
        case .chatConnections:
            // The whole is half of the limit of open files, where that is known.
            // An app has 10,000 sessions at most. Those that have ended keep their places here until their turn.
            .init("connections to chat servers", of: "app", "busy", .unavailable)
                .bounded(whole: .held(20_000), app: .timesFree(2))
                .waiting(whole: 100_000, app: 20_000, for: .seconds(3600)).outcome("waits its turn")
        case .chatSignIns:
            .init("chat sessions that sign in", of: "server", "busy", .unavailable)
                .bounded(whole: .held(32), app: .timesFree(2), caller: .timesFree(1))
                .waiting(whole: 100_000, for: .seconds(3600))
        case .nameLookups:
            .init("names that are looked up", of: "giver in an app", "busy", .unavailable)
                .bounded(whole: .held(8), caller: .held(2)).waiting(caller: 256, for: .seconds(30))
                .outcome("its request fails, which counts as no failure of its receiver")
        case .newNameLookups:
            .init(
                "names of users and strangers, or never found before, that are looked up",
                of: "giver in an app",
                "busy",
                .unavailable
            )
            .bounded(whole: .held(6), caller: .held(2)).waiting(caller: 256, for: .seconds(30))
            .outcome("its request fails, which counts as no failure of its receiver")
        case .webhookPosts:
            .init("runs of posts to webhooks", of: "webhook", "busy", .unavailable)
                .bounded(whole: .held(16), app: .timesFree(2), caller: .held(1)).waiting(for: .seconds(3600))
                .outcome("waits its turn")
        case .webhookRetries:
            .init("runs of posts to webhooks that have failed", of: "webhook", "busy", .unavailable)
                .bounded(whole: .held(8), app: .timesFree(1), caller: .held(1)).waiting(for: .seconds(3600))
                .outcome("waits its turn")
        case .logLines:
            .init("log lines", of: "message", "busy", .unavailable)
                .bounded(caller: .rate(perSecond: 0.5, burst: 30))
                .outcome("left out: the next line of the message that is written has their number")
        }
    }
}
