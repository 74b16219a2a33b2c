import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// Entitlement as the catalogue and downloads ask for it: transactions first, then the publisher's server.
@Suite(.timeLimit(.patience)) struct EntitlementCheckerTests {
    let appStore: TestAppStore
    let time = ManualTime()

    init() throws { self.appStore = try TestAppStore() }

    /// Runs `body` with a checker, its store and a publisher's server.
    private func withChecker(
        wrong: Budget = Budget(.wrongSecrets, limits: BudgetLimits(.init())),
        _ change: (inout EntitlementSettings) -> Void = { _ in },
        _ body: (EntitlementChecker, any ProviderStore, AppRecord, ScriptedReceiver, Int) async throws -> Void
    ) async throws {
        var settings = EntitlementSettings()
        settings.deadline = .patience
        settings.roots = try AppStoreRoots(Data(self.appStore.root))
        change(&settings)
        try await ScriptedReceiver.run { receiver, port in
            try await StoreBackend.available[0].withStore { store, app in
                let checker = EntitlementChecker(
                    store: store,
                    settings: settings,
                    addresses: AddressPolicy(allowsPrivate: true),
                    resolver: SystemResolver(BudgetRegistry()),
                    questions: .patient(.entitlementQuestions),
                    wrong: wrong,
                    lines: Budget(.logLines),
                    time: self.time,
                    logger: silentLogger
                )
                let record = try #require(try await store.app(id: app))
                try await body(checker, store, record, receiver, port)
            }
        }
    }

    private func server(_ app: AppRecord, _ port: Int) -> EntitlementServerRecord {
        EntitlementServerRecord(
            app: app.id,
            url: "http://127.0.0.1:\(port)/",
            secret: "shared",
            changedAt: self.time.now
        )
    }

    private func decide(
        _ checker: EntitlementChecker,
        _ app: AppRecord,
        _ products: [String],
        _ transactions: [String] = [],
        account: String? = nil,
        client: BudgetCaller.Identity? = .app
    ) async -> [EntitlementDecision] {
        var proof = EntitlementProof()
        (proof.transactions, proof.account) = (transactions, account)
        let products = products.map { EntitlementProduct.retail($0) }
        return await checker.decide(EntitlementRequest(app: app, products: products, proof: proof, client: client))
    }

    private static func response(_ body: String) -> ScriptedReceiver.Response {
        .bytes("HTTP/1.1 200 OK\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    /// Returns the stable reason of a refusal.
    private static func reason(_ decision: EntitlementDecision?) -> String? {
        if case .refused(let reason, _)? = decision { reason } else { nil }
    }

    @Test func transactionsDecideWithoutAServer() async throws {
        try await self.withChecker { checker, _, app, receiver, _ in
            let bought = try self.appStore.transaction()
            let decisions = await self.decide(checker, app, ["com.example.issue7", "com.example.issue8"], [bought])
            #expect(decisions.first == .entitled(by: .transaction))
            #expect(Self.reason(decisions.last) == "not_entitled")
            #expect(receiver.posts.isEmpty)
        }
    }

    @Test func aFaultNamesItsTransaction() async throws {
        try await self.withChecker { checker, _, app, _, _ in
            let bought = try self.appStore.transaction()
            let decisions = await self.decide(
                checker,
                app,
                ["com.example.issue7", "com.example.issue8"],
                [bought, "garbage", try TestAppStore().transaction()]
            )
            #expect(decisions.first == .entitled(by: .transaction))
            let message = "transactions[1]: it does not have the three parts of a JWS"
            #expect(decisions.last == .refused(reason: "invalid_transaction", message: message))
            let wrong = try self.appStore.transaction(["bundleId": "com.example.other"])
            #expect(Self.reason(await self.decide(checker, app, ["com.example.issue7"], [wrong]).first) == "wrong_app")
        }
    }

    @Test func aRefundedPurchaseSaysSo() async throws {
        try await self.withChecker { checker, _, app, _, _ in
            let revoked = try self.appStore.transaction(["revocationDate": 1_699_999_999_000])
            let sandbox = try self.appStore.transaction(["environment": "Sandbox"])
            for (text, reason) in [(revoked, "transaction_revoked"), (sandbox, "sandbox_transaction")] {
                let decisions = await self.decide(checker, app, ["com.example.issue7"], ["garbage", text])
                #expect(Self.reason(decisions.first) == reason)
            }
        }
        try await self.withChecker({ $0.allowsSandboxPurchases = true }) { checker, _, app, _, _ in
            let sandbox = try self.appStore.transaction(["environment": "Sandbox"])
            let decisions = await self.decide(checker, app, ["com.example.issue7"], [sandbox])
            #expect(decisions == [.entitled(by: .transaction)])
        }
    }

    @Test func withoutARootTheSettingIsNamed() async throws {
        try await self.withChecker({ $0.roots = nil }) { checker, store, app, _, port in
            let decisions = await self.decide(checker, app, ["com.example.issue7"], [try self.appStore.transaction()])
            guard case .refused("no_app_store_root", let message)? = decisions.first else {
                Issue.record("\(decisions)")
                return
            }
            #expect(message.contains("serve.publishing.appStoreRoot"))
            let reason = try await checker.refusalForEverybody(app: app)
            #expect(reason?.contains("serve.publishing.appStoreRoot") == true)
            _ = try await store.setEntitlementServer(self.server(app, port), keepsSecret: true)
            #expect(try await checker.refusalForEverybody(app: app) == nil)
        }
        try await self.withChecker { checker, _, app, _, _ in
            let reason = try await checker.refusalForEverybody(app: app)
            #expect(reason == nil)
        }
    }

    @Test func furtherTransactionsAreIgnored() async throws {
        try await self.withChecker { checker, _, app, _, _ in
            let bought = try self.appStore.transaction()
            let other = try self.appStore.transaction(["productId": "com.example.other"])
            let full = Array(repeating: other, count: EntitlementProof.maximumTransactions)
            #expect(Self.reason(await self.decide(checker, app, ["com.example.issue7"], full + [bought]).first) != nil)
            let decisions = await self.decide(checker, app, ["com.example.issue7"], full.dropLast() + [bought])
            #expect(decisions == [.entitled(by: .transaction)])
        }
    }

    @Test func aSubscriptionOfThePublicationEntitles() async throws {
        try await self.withChecker { checker, store, app, _, _ in
            var publication = PublicationRecord(
                id: UUID(),
                app: app.id,
                name: "The Example",
                createdAt: self.time.now
            )
            publication.subscriptionProducts = ["com.example.yearly"]
            _ = try await store.addPublication(publication)
            var proof = EntitlementProof()
            proof.transactions = [
                try self.appStore.transaction([
                    "productId": "com.example.yearly", "type": "Auto-Renewable Subscription",
                    "purchaseDate": 1_699_000_000_000, "expiresDate": 1_730_000_000_000,
                ])
            ]
            let products = [
                EntitlementProduct.retail("com.example.issue7", publication: publication.id),
                EntitlementProduct.retail("com.example.issue8"),
            ]
            let decisions = await checker.decide(
                EntitlementRequest(app: app, products: products, proof: proof, client: .app)
            )
            #expect(decisions.first == .entitled(by: .transaction))
            #expect(Self.reason(decisions.last) == "not_entitled")
        }
    }

    @Test func thePublisherDecidesTheRest() async throws {
        try await self.withChecker { checker, store, app, receiver, port in
            _ = try await store.setEntitlementServer(self.server(app, port), keepsSecret: true)
            receiver.script(Self.response(#"{"entitled":["com.example.issue8"]}"#))
            let products = ["com.example.issue7", "com.example.issue8", "com.example.issue9"]
            let bought = try self.appStore.transaction()
            let decisions = await self.decide(checker, app, products, [bought], account: "alice")
            #expect(
                decisions.prefix(2) == [.entitled(by: .transaction), .entitled(by: .publisher)]
            )
            #expect(Self.reason(decisions.last) == "not_entitled")
            let asked = try JSONValue(parsing: try #require(receiver.posts.first?.body))
            #expect(asked["productIds"] == ["com.example.issue8", "com.example.issue9"])
            // Without an account nobody is asked about.
            _ = await self.decide(checker, app, products)
            #expect(receiver.posts.count == 1)
        }
    }

    @Test func aServerThatIsDownIsSaidToBe() async throws {
        try await self.withChecker { checker, store, app, receiver, port in
            var server = self.server(app, port)
            for (whenDown, isAvailable) in [(EntitlementServerRecord.WhenDown.refuse, true), (.allowKnown, false)] {
                (server.whenDown, server.revision) = (whenDown, UUID())
                _ = try await store.setEntitlementServer(server, keepsSecret: true)
                receiver.script(.status(500))
                let decision = await self.decide(checker, app, ["com.example.issue7"], account: "alice").first
                switch decision {
                case .refused("publisher_unavailable", _)?: #expect(isAvailable)
                case .unavailable(_, let delay)?: #expect(!isAvailable && delay == .seconds(10))
                default: Issue.record("\(String(describing: decision))")
                }
            }
        }
    }

    @Test func aRefusedAccountMustSignInAgain() async throws {
        try await self.withChecker { checker, store, app, receiver, port in
            _ = try await store.setEntitlementServer(self.server(app, port), keepsSecret: true)
            receiver.script(.status(401))
            let decision = await self.decide(checker, app, ["com.example.issue7"], account: "alice").first
            #expect(Self.reason(decision) == "account_refused")
        }
    }

    /// The certificates that a site makes up are wrong secrets. What was accepted before needs no check.
    @Test func aForgerIsToldToComeLater() async throws {
        let start = ContinuousClock.now
        try await self.withChecker(wrong: Budget(.wrongSecrets) { start }) { checker, store, app, receiver, port in
            let forger = try TestAppStore()
            let chain = [forger.signer, forger.intermediate, self.appStore.root]
            let forged = try forger.sign(try forger.payload(), chain: chain)
            let (issues, site) = (["com.example.issue7", "com.example.issue8"], [0x20, 1, 0xd, 0xb8, 0, 7] as [UInt8])
            let full = Array(repeating: forged, count: EntitlementProof.maximumTransactions)
            let told = await self.decide(checker, app, issues, full, client: .network(site + [0, 1]))
            #expect(told.map { Self.reason($0) } == ["invalid_transaction", "invalid_transaction"])
            // A site has many networks.
            let bought = try self.appStore.transaction()
            let later = await self.decide(checker, app, issues, [bought], client: .network(site + [0, 2]))
            guard case .tooMany(let refusal)? = later.first else {
                Issue.record("\(later)")
                return
            }
            #expect(refusal.error.error.code == "too_many_requests" && refusal.error.error.kind == .rateLimited)
            #expect(later == [.tooMany(refusal), .tooMany(refusal)])
            _ = try await store.setEntitlementServer(self.server(app, port), keepsSecret: true)
            receiver.script(Self.response(#"{"entitled":["com.example.issue8"]}"#))
            let asked = await self.decide(
                checker,
                app,
                issues,
                [bought],
                account: "alice",
                client: .network(site + [0, 2])
            )
            #expect(asked == [.tooMany(refusal), .entitled(by: .publisher)])
            let other = await self.decide(checker, app, issues, [bought], client: .network([192, 0, 2, 1]))
            #expect(other.first == .entitled(by: .transaction))
            let known = await self.decide(checker, app, issues, [forged, bought], client: .network(site + [0, 2]))
            #expect(known == [.entitled(by: .transaction), .tooMany(refusal)])
        }
    }

    /// Without the network of a client, as at a proxy, an app pays for its own.
    @Test func aForgerAtAProxyHoldsUpNoOtherApp() async throws {
        let start = ContinuousClock.now
        let wrong = Budget(.wrongSecrets) { start }
        try await self.withChecker(wrong: wrong) { checker, _, app, _, _ in
            let forger = try TestAppStore()
            let chain = [forger.signer, forger.intermediate, self.appStore.root]
            let forged = try forger.sign(try forger.payload(), chain: chain)
            let full = Array(repeating: forged, count: EntitlementProof.maximumTransactions)
            _ = await self.decide(checker, app, ["com.example.issue7"], full, client: nil)
            #expect(throws: BudgetRefusal.self) { try wrong.check(for: BudgetCaller(app: app.bundleID)) }
            try wrong.check(for: BudgetCaller(app: Topic("com.example.Other")))
        }
    }
}
