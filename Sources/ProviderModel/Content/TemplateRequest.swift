package import PushSupport

/// The requests that add and save a template.
package enum TemplateRequest {
    package static let content = RequestMember<JSONFields>(
        "content",
        .object(isOpen: true)
            .described("The members of the content, as those of a notification; see docs/content.md.")
    ) { (fields, name) throws(RequestError) in try fields.fields(name, known: NotificationContent.object.known) }
    package static let objects = LibraryItemRequest.Objects(Self.content)

    /// Reads the content of a template. The content is required, and must not expire at a fixed time.
    /// - Throws: ``RequestError`` that names the member at fault.
    package static func content(_ fields: JSONFields) throws(RequestError) -> JSONFields {
        let content = try fields.required(Self.content, "name the content, for example {\"alert\":\"Hi\"}")
        if let expiration = content.members["expiration"], expiration != .integer(0) {
            let message = "one time cannot suit every use: take expiresIn, or 0"
            throw content.error("expiration", "conflicting_field", message)
        }
        return content
    }
}
