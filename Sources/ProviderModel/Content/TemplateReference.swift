package import PushSupport

/// The member `template` of a request as an object that names the template with the content.
///
/// As a Boolean, the member says whether the content of the request has variables (``TemplateValidator``).
package struct TemplateReference: Hashable, Sendable {
    package static let member = "template"

    private static let id = Member.id("id", "use the id of a template")
    private static let name = Member.text("name", 1...LibraryText.maximumName)

    package static let versionMember = Member.integer("version", 1...Int64.max).described("Default the newest.")

    static let object = RequestObject(
        optional: [Self.id, Self.name, Self.versionMember, TemplateVariables.member]
    ) { $0.requiringOne(of: "id", "name") }

    package let item: LibraryItemName
    /// The version of the template, or `nil` for the newest one.
    package let version: Int64?
    let variables: TemplateVariables

    /// Reads the member, or returns `nil` where it is absent or a Boolean.
    /// - Throws: ``RequestError`` that names the member at fault.
    package init?(_ fields: JSONFields) throws(RequestError) {
        guard case .object? = fields.members[Self.member],
            let reference = try fields.fields(Self.member, known: Self.object.known)
        else { return nil }
        switch (try reference.value(Self.id), try reference.value(Self.name)) {
        case (let id?, nil): self.item = .id(id)
        case (nil, let name?): self.item = .name(BytewiseString(name))
        case (_?, _?): throw reference.error("name", "conflicting_field", "name the template by its id or its name")
        case (nil, nil): throw reference.error("name", "missing_field", "name the template by its id or its name")
        }
        self.version = try reference.value(Self.versionMember)
        self.variables = try TemplateVariables(reference)
    }
}
