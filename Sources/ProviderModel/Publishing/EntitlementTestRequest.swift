package import PushSupport

/// The request that asks the publisher's server about an account, to test the connection.
package enum EntitlementTestRequest {
    package static let products = Member.texts("productIds", 1...100, maximum: IssueRecord.maximumProductID)
    package static let object = RequestObject(
        required: [Self.products],
        optional: [EntitlementProof.accountMember, EntitlementProof.tokenMember]
    ) { $0.requiringOne(of: "account", "authToken") }
}
