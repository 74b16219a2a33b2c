import Foundation
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// The purchases that entitle to an issue.
@Suite struct TransactionRuleTests {
    /// 2023-11-20, a day in the middle of the period below.
    private static let day = Timestamp(seconds: 1_700_438_400)

    /// Decides about a purchase and an issue of a publication with the subscription `com.example.yearly`.
    private func decide(
        _ transaction: StoreTransaction,
        _ product: String = "com.example.issue7",
        by rule: TransactionRule = TransactionRule(allowsSandbox: false)
    ) -> TransactionRule.Decision {
        rule.decide(transaction, .retail(product), subscriptions: ["com.example.yearly"])
    }

    private func transaction(_ change: (inout StoreTransaction) -> Void = { _ in }) throws -> StoreTransaction {
        var transaction = try StoreTransaction(
            [
                "bundleId": .string(Vectors.bundleID), "productId": .string("com.example.issue7"),
                "type": .string("Non-Consumable"), "environment": .string("Production"),
                "purchaseDate": .integer(1_700_000_000_000), "signedDate": .integer(1_700_000_000_000),
            ],
            app: try #require(Topic(Vectors.bundleID))
        )
        change(&transaction)
        return transaction
    }

    private func subscription(
        from start: Duration,
        to end: Duration?,
        _ change: (inout StoreTransaction) -> Void = { _ in }
    ) throws -> StoreTransaction {
        try self.transaction { transaction in
            (transaction.productID, transaction.kind) = ("com.example.yearly", .subscription)
            transaction.purchasedAt = Self.day.advanced(by: start)
            transaction.expiresAt = end.map { Self.day.advanced(by: $0) }
            change(&transaction)
        }
    }

    @Test func theIssuesOwnProductEntitlesForGood() throws {
        #expect(self.decide(try self.transaction()) == .entitled)
        #expect(self.decide(try self.transaction(), "com.example.issue8") == .unrelated)
        let revoked = try self.transaction { $0.revokedAt = Self.day }
        #expect(self.decide(revoked) == .refused(.revoked))
        for kind in [StoreTransaction.Kind.consumable, .subscription, .nonRenewing] {
            let other = try self.transaction { ($0.kind, $0.expiresAt) = (kind, Self.day.advanced(by: .seconds(9e6))) }
            #expect(self.decide(other) == .refused(.notEntitled), "\(kind)")
        }
    }

    @Test func aSubscriptionEntitlesToTheIssuesOfItsPeriod() throws {
        func days(_ count: Int) -> Duration { .seconds(count * 86_400) }
        let (evening, morning) = (days(1) - .milliseconds(1), Duration.milliseconds(1))
        let cases: [(Duration, Duration, TransactionRule.Decision)] = [
            (days(-1), days(1), .entitled), (.zero, days(1), .entitled), (days(-30), morning, .entitled),
            (evening, days(30), .entitled), (days(1), days(30), .refused(.expired)),
            (days(-30), .zero, .refused(.expired)), (days(-30), days(-1), .refused(.expired)),
        ]
        for (start, end, decision) in cases {
            #expect(self.decide(try self.subscription(from: start, to: end)) == decision)
        }
    }

    @Test func whatTheAppStoreHasEndedEntitlesToNothing() throws {
        let (start, end): (Duration, Duration) = (.seconds(-86_400), .seconds(86_400))
        let upgraded = try self.subscription(from: start, to: end) { $0.isUpgraded = true }
        #expect(self.decide(upgraded) == .refused(.upgraded))
        let revoked = try self.subscription(from: start, to: end) { ($0.isUpgraded, $0.revokedAt) = (true, Self.day) }
        #expect(self.decide(revoked) == .refused(.revoked))
        #expect(self.decide(try self.subscription(from: start, to: nil)) == .refused(.notEntitled))
        let sold = try self.subscription(from: start, to: end) { $0.kind = .nonConsumable }
        #expect(self.decide(sold) == .refused(.notEntitled))
    }

    @Test func theSandboxEntitlesToDevelopmentProducts() throws {
        let sandbox = try self.transaction { $0.environment = .sandbox }
        #expect(self.decide(sandbox) == .refused(.sandbox))
        #expect(self.decide(sandbox, by: TransactionRule(allowsSandbox: true)) == .entitled)
        let development = try self.transaction { ($0.environment, $0.productID) = (.sandbox, "dev_test.issue7") }
        #expect(self.decide(development, "dev_test.issue7") == .entitled)
    }

    @Test func aPurchaseForAnotherAccountIsRefused() throws {
        let (mine, theirs) = (UUID(), UUID())
        let bound = try self.transaction { $0.account = mine }
        #expect(self.decide(bound, by: TransactionRule(allowsSandbox: false, account: mine)) == .entitled)
        let other = TransactionRule(allowsSandbox: false, account: theirs)
        #expect(self.decide(bound, by: other) == .refused(.otherAccount))
        #expect(self.decide(try self.transaction(), by: other) == .entitled)
        // An account that is no UUID cannot be compared.
        #expect(self.decide(bound) == .entitled)
    }
}
