package import ProviderModel
package import PushSupport

/// A request from an app for entitlement decisions: the products, and the proof of their purchase.
package struct EntitlementRequest: Sendable {
    package let app: AppRecord
    package let products: [EntitlementProduct]
    package let proof: EntitlementProof
    /// The client, identified by its network, or `nil` if all clients have the address of a proxy.
    package let client: BudgetCaller.Identity?
}

/// The entitlement decision about one product.
package enum EntitlementDecision: Hashable, Sendable {
    case entitled(by: EntitlementGrounds)
    /// The decision that the account is not entitled. The reason is a stable code, such as `not_entitled`.
    case refused(reason: String, message: String)
    /// The result if no decision can be made now. The client should retry after `retryAfter`.
    case unavailable(message: String, retryAfter: Duration)
    /// The result if too many requests or checks are in progress, which says nothing about account or server.
    case tooMany(BudgetRefusal)
}

/// The ground of an entitlement: a free issue, an App Store transaction, or the publisher's server.
package enum EntitlementGrounds: String, CaseIterable, Hashable, Sendable {
    case free, transaction, publisher
}
