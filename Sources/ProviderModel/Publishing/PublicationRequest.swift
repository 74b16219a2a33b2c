package import PushSupport

/// The requests that add and change a publication.
package enum PublicationRequest {
    private static let lengths = 1...Member.maximumText

    package static let name = Member.text("name", Self.lengths)
    private static let account = Member.text("account", Self.lengths).clearable
    private static let subscriptions = Member.texts(
        "subscriptionProducts",
        0...PublicationRecord.maximumSubscriptions,
        maximum: Member.maximumText,
        as: .string(length: Self.lengths, pattern: "^[^\\s]+$")
    ).described("The subscriptions in the App Store that entitle to its issues. They replace all earlier ones.")
    private static let options: [any RequestMemberProtocol] = [
        Self.account, NotifyWavesSetting.member, Self.subscriptions,
    ]

    package static let addition = RequestObject(required: [Self.name], optional: Self.options) {
        $0.example(.texts(["name": "The Example"]))
    }
    package static let change = RequestObject(optional: Self.options, [Self.name])

    /// Reads the changes of a publication that a request names.
    /// - Throws: ``RequestError`` that names the member at fault.
    package static func changes(_ fields: JSONFields) throws(RequestError) -> PublicationChanges {
        var changes = PublicationChanges()
        changes.name = try fields.value(Self.name)
        changes.account = try fields.value(Self.account)
        try NotifyWavesSetting.read(fields, into: &changes)
        if let products = try fields.value(Self.subscriptions) {
            guard products.allSatisfy({ $0.utf8.allSatisfy { $0 > 0x20 } }) else {
                throw fields.error("subscriptionProducts", "invalid_value", "a product id has no spaces")
            }
            changes.subscriptionProducts = Set(products)
        }
        return changes
    }
}
