package import PushSupport

/// The proof that an app's user may download an issue: App Store transactions, or an account with the publisher.
package struct EntitlementProof: Hashable, Sendable {
    /// The maximum number of transactions in a request, and of bytes in a transaction. A request with more is rejected.
    package static let (maximumTransactions, maximumTransaction) = (20, 16 * 1024)
    /// The maximum length of the name of an account, in bytes.
    package static let maximumAccount = 256
    /// The maximum length of the token of an account, in bytes.
    package static let maximumToken = 4096
    /// The maximum length of a request with a proof, in bytes. Twenty transactions fit in it.
    package static let maximumRequest = 512 * 1024

    /// The signed transactions of the App Store.
    package var transactions: [String] = []
    /// The name of the reader's account with the publisher, or `nil` for none.
    package var account: String?
    /// The token that the publisher's server has given to the app's user, or `nil` for none.
    package var authToken: String?

    package init() {}
}

extension EntitlementProof {
    /// The member for ``account``.
    package static let accountMember = Member.text("account", 1...Self.maximumAccount)
    package static let tokenMember = Member.text("authToken", 1...Self.maximumToken)
    package static let products = Member.texts("productIds", 1...100, maximum: IssueRecord.maximumProductID)
    package static let screenForm = "use a size in pixels such as 2048x1536"
    package static let screenSize = Member.text("screenSize", maximum: 11, as: .screenSize)
        .parsed("invalid_value", Self.screenForm) { ScreenSize($0) }
    private static let transactionsMember = Member.texts(
        "transactions",
        0...Self.maximumTransactions,
        maximum: Self.maximumTransaction
    ).described("The signed transactions of the app store.")
    private static let members: [any RequestMemberProtocol] = [
        Self.transactionsMember, Self.accountMember.described("The publisher's account."),
        Self.tokenMember.described("The token of the publisher's server."),
    ]
    package static let entitlements = RequestObject(required: [Self.products], optional: Self.members)
    package static let download = RequestObject(required: [Self.screenSize], optional: Self.members)

    /// Reads the proof of a request.
    /// - Throws: ``RequestError`` that names the member at fault.
    package init(_ fields: JSONFields) throws(RequestError) {
        self.transactions = try fields.value(Self.transactionsMember) ?? []
        self.account = try fields.value(Self.accountMember)
        self.authToken = try fields.value(Self.tokenMember)
    }
}
