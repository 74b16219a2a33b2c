import Foundation
import PushSupport
import PushTypes

/// A purchase that the App Store has signed (`JWSTransactionDecodedPayload` of the App Store Server API).
struct StoreTransaction: Hashable, Sendable {
    enum Kind: String, Hashable, Sendable {
        case nonConsumable = "Non-Consumable"
        case consumable = "Consumable"
        case subscription = "Auto-Renewable Subscription"
        case nonRenewing = "Non-Renewing Subscription"
    }

    enum Environment: String, Hashable, Sendable {
        case production = "Production"
        case sandbox = "Sandbox"
    }

    var productID: String
    var kind: Kind
    var environment: Environment
    var purchasedAt: Timestamp
    /// The end of the subscription period, or `nil` for a product that does not expire.
    var expiresAt: Timestamp?
    /// The time at which the App Store revoked the purchase (refund, or end of Family Sharing), or `nil` if it did not.
    var revokedAt: Timestamp?
    /// A Boolean value that indicates whether an upgrade has replaced the subscription.
    var isUpgraded = false
    /// The account that the app specified for the purchase, or `nil` if it specified none.
    var account: UUID?
    var signedAt: Timestamp

    /// Parses a payload.
    /// - Throws: ``TransactionFault`` for a payload of another app than `app`, and for one of another form.
    init(_ payload: [String: JSONValue], app: Topic) throws(TransactionFault) {
        guard case .string(let bundleID)? = payload["bundleId"] else { throw .malformed("it names no app (bundleId)") }
        guard bundleID == app.name else { throw .otherApp }
        guard case .string(let product)? = payload["productId"], (1...256).contains(product.utf8.count) else {
            throw .malformed("it names no product (productId)")
        }
        guard case .string(let kind)? = payload["type"], let kind = Kind(rawValue: kind) else {
            throw .malformed("the type of its product is unknown")
        }
        guard case .string(let environment)? = payload["environment"],
            let environment = Environment(rawValue: environment)
        else { throw .otherEnvironment }
        guard let purchasedAt = try Self.time("purchaseDate", in: payload) else {
            throw .malformed("it has no purchaseDate")
        }
        (self.productID, self.kind, self.environment, self.purchasedAt) = (product, kind, environment, purchasedAt)
        self.expiresAt = try Self.time("expiresDate", in: payload)
        self.revokedAt = try Self.time("revocationDate", in: payload)
        self.signedAt = try Self.signingTime(payload)
        if let flag = payload["isUpgraded"] {
            guard case .bool(let isUpgraded) = flag else {
                throw .malformed("its isUpgraded is neither true nor false")
            }
            self.isUpgraded = isUpgraded
        }
        if let token = payload["appAccountToken"] {
            guard case .string(let text) = token, let account = UUID(uuidString: text) else {
                throw .malformed("its appAccountToken is not a UUID")
            }
            self.account = account
        }
    }

    /// Returns the signing time in a payload, which is not verified.
    static func signingTime(_ payload: [String: JSONValue]) throws(TransactionFault) -> Timestamp {
        guard let time = try Self.time("signedDate", in: payload) else { throw .malformed("it has no signedDate") }
        return time
    }

    /// Returns a time in milliseconds since 1970, up to the end of the year 9999, or `nil` if the member is absent.
    private static func time(_ name: String, in payload: [String: JSONValue]) throws(TransactionFault) -> Timestamp? {
        switch payload[name] {
        case nil: return nil
        case .integer(let milliseconds)? where (0...253_402_300_799_999).contains(milliseconds):
            return Timestamp(milliseconds: milliseconds)
        default: throw .malformed("its \(name) is not a time in milliseconds")
        }
    }
}
