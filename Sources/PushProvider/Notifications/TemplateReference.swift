import Foundation
import PushStore
import PushSupport

/// The member `template` of a request in its form as an object: the template that the content comes from.
///
/// As a boolean the member says that the content of the request has variables, see ``TemplateCheck``.
struct TemplateReference: Hashable, Sendable {
    static let member = "template"
    private static let members: Set<String> = ["id", "name", "version", "variables"]

    let item: LibraryItemName
    /// The version to take; `nil` for the newest.
    let version: Int64?
    let variables: TemplateVariables

    /// Reads the member; `nil` where it is absent or a boolean.
    /// - Throws: ``RequestError`` that names the member at fault.
    init?(_ fields: JSONFields) throws(RequestError) {
        guard case .object? = fields.members[Self.member],
            let reference = try fields.fields(Self.member, known: Self.members)
        else { return nil }
        let id = try reference.value("id", maximum: 36, orElse: "invalid_id", "use the id of a template") {
            UUID(uuidString: $0)
        }
        let name = try reference.string("name", maximum: LibraryText.maximumName)
        switch (id, name) {
        case (let id?, nil): self.item = .id(id)
        case (nil, let name?): self.item = .name(ExactText(name))
        case (_?, _?): throw reference.error("name", "conflicting_field", "name the template by its id or its name")
        case (nil, nil): throw reference.error("name", "missing_field", "name the template by its id or its name")
        }
        self.version = try reference.integer("version", in: 1...Int64.max)
        self.variables = try TemplateVariables(reference)
    }
}

/// The limits on the texts of named audiences and templates.
package enum LibraryText {
    /// The longest name, in bytes.
    package static let maximumName = AudienceExpression.maximumText
    /// The longest description, in bytes.
    package static let maximumDescription = 1000
}
