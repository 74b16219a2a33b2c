import Foundation
import PushTypes

/// Decides whether a purchase entitles to an issue.
///
/// The issue's own product, purchased as a Non-Consumable, entitles permanently. A subscription of the publication
/// entitles to issues that are dated within one of its periods, even after it has ended, because they were paid for.
struct TransactionRule: Hashable, Sendable {
    /// The prefix of product ids for development builds, to which any purchase in the sandbox may entitle.
    static let developmentPrefix = "dev_test."
    private static let day: Duration = .seconds(86_400)

    /// The reason why a purchase of a matching product does not entitle.
    enum Refusal: String, Hashable, Sendable {
        case notEntitled = "not_entitled"
        case revoked = "transaction_revoked"
        case expired = "transaction_expired"
        case upgraded = "transaction_upgraded"
        case sandbox = "sandbox_transaction"
        case otherAccount = "other_account"

        /// The reason as a sentence, without a full stop.
        var message: String {
            switch self {
            case .notEntitled: "no transaction entitles to this product"
            case .revoked: "the App Store has taken the purchase back"
            case .expired: "the subscription has no period in which the issue appeared"
            case .upgraded: "the subscription was upgraded: send the transaction of the new one"
            case .sandbox: "a purchase in the sandbox entitles to products that begin with \(developmentPrefix) only"
            case .otherAccount: "the purchase was made for another account"
            }
        }
    }

    /// A Boolean value that indicates whether purchases in the sandbox entitle to every product, and not only to those
    /// for development builds.
    var allowsSandbox: Bool
    /// The account in the request, to which a purchase that was made for an account must belong. It is `nil` if it is
    /// absent or not a UUID, and then is not compared.
    var account: UUID?

    enum Decision: Hashable, Sendable {
        case entitled
        case refused(Refusal)
        /// The decision that the purchase is of another product, and decides nothing about this one.
        case unrelated
    }

    /// Decides whether one purchase entitles to one issue.
    /// - Parameter subscriptions: The subscription products of the publication.
    func decide(
        _ transaction: StoreTransaction,
        _ product: EntitlementProduct,
        subscriptions: Set<String>
    ) -> Decision {
        let isOwn = transaction.productID == product.productID
        guard isOwn || subscriptions.contains(transaction.productID) else { return .unrelated }
        if transaction.revokedAt != nil { return .refused(.revoked) }
        if let owner = transaction.account, let account, owner != account { return .refused(.otherAccount) }
        let isDevelopment = product.productID.hasPrefix(Self.developmentPrefix)
        guard transaction.environment == .production || isDevelopment || self.allowsSandbox else {
            return .refused(.sandbox)
        }
        switch transaction.kind {
        case .nonConsumable: return isOwn ? .entitled : .refused(.notEntitled)
        // The App Store does not know whether the product was consumed, which only the app can decide.
        case .consumable: return .refused(.notEntitled)
        case .subscription, .nonRenewing:
            return isOwn ? .refused(.notEntitled) : self.decide(period: transaction, product)
        }
    }

    private func decide(period transaction: StoreTransaction, _ product: EntitlementProduct) -> Decision {
        if transaction.isUpgraded { return .refused(.upgraded) }
        // The App Store does not know the end of a Non-Renewing Subscription.
        guard let end = transaction.expiresAt else { return .refused(.notEntitled) }
        let isWithin = transaction.purchasedAt < product.date.advanced(by: Self.day) && end > product.date
        return isWithin ? .entitled : .refused(.expired)
    }
}
