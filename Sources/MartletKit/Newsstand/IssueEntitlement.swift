#if canImport(CryptoKit) || Encryption
public import Foundation

/// The proof of a reader's purchases.
public struct PurchaseProof: Hashable, Sendable {
    /// The signed transactions of the app store, in the form of StoreKit 2 (`jwsRepresentation`). At most 20 are
    /// allowed.
    public var transactions: [String]
    /// The reader's account at the publisher, or `nil` if the reader has none.
    public var account: String?
    /// The reader's token from the publisher's server, or `nil` if the reader has none.
    public var authToken: String?

    public init(transactions: [String] = [], account: String? = nil, authToken: String? = nil) {
        (self.transactions, self.account, self.authToken) = (transactions, account, authToken)
    }

    var members: [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        if !self.transactions.isEmpty { members["transactions"] = .array(self.transactions.map { .string($0) }) }
        members["account"] = self.account.map { .string($0) }
        members["authToken"] = self.authToken.map { .string($0) }
        return members
    }
}

/// The provider's decision about the reader's entitlement to one product.
public struct IssueEntitlement: Hashable, Sendable {
    /// A decision about one product.
    public enum Decision: Hashable, Sendable {
        /// The decision that the reader may download the product. The grounds are `free`, `transaction` or `publisher`.
        case entitled(by: String)
        /// The decision that the reader may not download the product, with a stable code such as `not_entitled`.
        case refused(code: String, message: String)
        /// The result if the provider cannot decide now. Repeat the request after the delay `retryAfter`.
        case unavailable(message: String, retryAfter: Duration)
    }

    public let product: String
    public let decision: Decision

    /// Parses an entry of the provider's response about entitlements. Returns `nil` if the entry is not valid.
    init?(_ entry: JSONValue) {
        guard let members = entry.object, let product = members["productId"]?.string,
            case .bool(let isEntitled)? = members["entitled"]
        else { return nil }
        self.product = product
        let message = members["message"]?.string ?? ""
        if isEntitled {
            self.decision = .entitled(by: members["by"]?.string ?? "")
        } else if let seconds = members["retryAfterSeconds"]?.integer {
            let wait = min(max(1, seconds), ProviderResult.maximumWait)
            self.decision = .unavailable(message: message, retryAfter: .seconds(wait))
        } else {
            self.decision = .refused(code: members["reason"]?.string ?? "", message: message)
        }
    }
}

/// The permission to download an issue.
public struct DownloadGrant: Hashable, Sendable {
    /// The file of the issue. Its download must begin before ``expiresAt``.
    public let file: PublishedFile
    /// The screen size for which the file is made, in pixels.
    public let screenSize: String
    /// A Boolean value that indicates whether the file is for the requested screen size instead of the nearest smaller
    /// one.
    public let isExact: Bool
    /// The grounds of the entitlement: `free`, `transaction` or `publisher`.
    public let entitledBy: String
    public let expiresAt: Date?

    init?(_ members: [String: JSONValue], base: URL) {
        guard let file = PublishedFile(members, base: base) else { return nil }
        self.file = file
        self.screenSize = members["screenSize"]?.string ?? ""
        self.isExact = members["match"]?.string == "exact"
        self.entitledBy = members["entitledBy"]?.string ?? ""
        self.expiresAt = members["expiresAtMs"]?.integer.map { Date(timeIntervalSince1970: Double($0) / 1000) }
    }
}
#endif
