package import PushSupport
package import PushTypes

/// The settings in a request that adds or changes a person.
package struct PersonRequest: Sendable {
    private static let name = Member.text("name", 1...PersonRecord.maximumName)
        .map { (name, _) throws(RequestError) in try PersonName.check(name) }.neverNull()
    private static let role = Member.choice("role", of: PersonRole.self).neverNull()
    private static let disabled = Member.bool("disabled").described("Whether the person cannot sign in.").neverNull()
    package static let language = Member.text("language", 1...35, pattern: "^[A-Za-z0-9]{1,8}(-[A-Za-z0-9]{1,8})*$")
        .described("A tag such as de, for the pages.")
        .checked("invalid_language", "use a tag such as de or pt-BR") { text in
            text.split(separator: "-", omittingEmptySubsequences: false).allSatisfy { part in
                (1...8).contains(part.utf8.count) && part.utf8.allSatisfy { $0.isAlphanumeric }
            }
        }.clearable

    /// The members of a request that adds a person.
    package static let addition = RequestObject(
        required: [Self.name, Self.role],
        optional: [APIKeyRequest.appsMember, Self.language]
    )
    package static let change = RequestObject(
        optional: [Self.name, Self.role, APIKeyRequest.appsMember, Self.language, Self.disabled]
    )

    package let fields: JSONFields
    package let name: String?
    package let role: PersonRole?
    package let apps: Update<Set<Topic>>?
    package let isDisabled: Bool?
    package let language: Update<String>?

    /// Reads the members of a request.
    /// - Throws: ``RequestError`` that names the member at fault.
    package init(_ fields: JSONFields) throws {
        self.fields = fields
        self.name = try fields.value(Self.name)
        self.role = try fields.value(Self.role)
        self.apps = try fields.value(APIKeyRequest.appsMember)
        self.isDisabled = try fields.value(Self.disabled)
        self.language = try fields.value(Self.language)
    }

    /// Sets the properties of a person that the request names, and keeps the others.
    package func apply(to person: inout PersonRecord) {
        if let name { person.name = name }
        if let role { person.role = role }
        if let apps { person.apps = apps.value }
        if let isDisabled { person.isDisabled = isDisabled }
        if let language { person.language = language.value }
    }
}
