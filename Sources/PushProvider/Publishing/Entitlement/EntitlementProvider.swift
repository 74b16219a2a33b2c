package import ProviderModel
package import PushSupport

/// Decides about entitlement to the issues that are not free.
package protocol EntitlementProvider: Sendable {
    /// Returns one decision for each product, in their order.
    ///
    /// It never throws: if it cannot decide, the decision is ``EntitlementDecision/unavailable(message:retryAfter:)``.
    func decide(_ question: EntitlementRequest) async -> [EntitlementDecision]
    /// Returns the reason for which no account can be entitled to a product with the app's present settings; `nil` if there
    /// is none.
    func refusalForEverybody(_ product: EntitlementProduct, app: AppRecord) async throws -> String?
}

/// A request of an app for decisions: the products, and the proof of their purchase.
package struct EntitlementRequest: Sendable {
    package let app: AppRecord
    package let products: [EntitlementProduct]
    package let proof: EntitlementProof
    /// The client, identified by its network; `nil` if all clients have the address of a proxy.
    package let client: BudgetCaller.Identity?

    package init(
        app: AppRecord,
        products: [EntitlementProduct],
        proof: EntitlementProof,
        client: BudgetCaller.Identity?
    ) {
        (self.app, self.products, self.proof, self.client) = (app, products, proof, client)
    }
}

/// The decision about one product.
package enum EntitlementDecision: Hashable, Sendable {
    case entitled(by: EntitlementGrounds)
    /// The reason is a stable code, such as `not_entitled`.
    case refused(reason: String, message: String)
    /// No decision can be made now.
    case unavailable(message: String, retryAfter: Duration)
    /// Too many questions or checks are in progress. It says nothing about the account or the publisher's server.
    case tooMany(BudgetRefusal)
}

/// The grounds of an entitlement.
package enum EntitlementGrounds: String, CaseIterable, Hashable, Sendable {
    case free, transaction, publisher
}

/// Decides about entitlement to issues: free issues are for every account, and an ``EntitlementProvider`` decides about the
/// others.
package struct EntitlementResolver: Sendable {
    private let provider: any EntitlementProvider

    package init(_ provider: any EntitlementProvider) { self.provider = provider }

    /// Returns one decision for each issue, in their order. The issues that are not free are decided together.
    package func decide(
        _ issues: [IssueRecord],
        app: AppRecord,
        proof: EntitlementProof,
        client: BudgetCaller.Identity?
    ) async -> [EntitlementDecision] {
        let products = issues.filter { $0.access == .retail }.map(EntitlementProduct.init)
        let question = EntitlementRequest(app: app, products: products, proof: proof, client: client)
        var decisions = products.isEmpty ? [] : await self.provider.decide(question)[...]
        return issues.map { issue in
            guard issue.access == .retail else { return .entitled(by: .free) }
            let missing = EntitlementDecision.unavailable(message: "no decision was made", retryAfter: .seconds(60))
            return decisions.popFirst() ?? missing
        }
    }

    /// Returns the reason for which no account can be entitled to an issue; `nil` if there is none.
    package func refusalForEverybody(_ issue: IssueRecord, app: AppRecord) async throws -> String? {
        guard issue.access == .retail else { return nil }
        return try await self.provider.refusalForEverybody(EntitlementProduct(issue), app: app)
    }
}
