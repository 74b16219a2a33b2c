package import PushSupport

/// The requests that count and preview the devices of an audience, and save a named audience.
package enum AudienceRequest {
    package static let limit = Member.integer("limit", 1...1000)
    package static let count = RequestObject(
        required: [Self.audience],
        optional: [Member.environment, Member.tokenKind]
    )
    package static let preview = RequestObject(
        required: [Self.audience],
        optional: [Member.environment, Member.tokenKind, Self.limit]
    )

    /// The bodies of the requests that add and save a named audience.
    package static let named = LibraryItemRequest.Objects(Self.audience)

    /// An audience of devices, as JSON that is not parsed yet.
    package static let audience = Member.openObject("audience", as: AudienceExpression.object.schema)

    /// Returns the members of the audience, which is required, because an empty body would select every device.
    /// - Throws: ``RequestError`` that names the member at fault.
    package static func members(_ fields: JSONFields) throws(RequestError) -> [String: JSONValue] {
        try fields.required(Self.audience, "name the devices, for example {\"tag\":\"beta\"}")
    }
}
