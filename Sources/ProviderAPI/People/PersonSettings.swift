import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The members of a person that a request sets.
struct PersonSettings {
    static let members: Set<String> = ["name", "role", "apps", "disabled", "language"]

    let fields: JSONFields
    let name: String?
    let role: PersonRole?
    let apps: Update<Set<Topic>>?
    let isDisabled: Bool?
    let language: Update<String>?

    /// - Throws: ``RequestError`` that names the member at fault.
    init(_ fields: JSONFields) throws {
        self.fields = fields
        self.name = try fields.string("name", maximum: PersonRecord.maximumName).map { try PersonName.check($0) }
        self.role = try fields.choice("role", of: PersonRole.self)
        self.apps = try KeySettings.apps(fields)
        self.isDisabled = try fields.bool("disabled")
        self.language = try Self.language(fields)
        for name in ["name", "role", "disabled"] where fields.nulls.contains(name) {
            throw fields.error(name, "wrong_type", "it cannot be removed")
        }
    }

    /// Sets the members of a person that the request names.
    func apply(to person: inout PersonRecord) {
        if let name { person.name = name }
        if let role { person.role = role }
        if let apps { person.apps = apps.value }
        if let isDisabled { person.isDisabled = isDisabled }
        if let language { person.language = language.value }
    }

    /// Returns the language that a body names.
    static func language(_ fields: JSONFields) throws -> Update<String>? {
        if fields.nulls.contains("language") { return .clear }
        guard let text = try fields.string("language", maximum: 35) else { return nil }
        let isTag = text.split(separator: "-", omittingEmptySubsequences: false).allSatisfy { part in
            (1...8).contains(part.utf8.count) && part.utf8.allSatisfy { $0.isAlphanumeric }
        }
        guard isTag else { throw fields.error("language", "invalid_language", "use a tag such as de or pt-BR") }
        return .set(text)
    }

    /// The members that a new person needs, and those that it may have.
    static let schema: (required: [(key: String, value: Schema)], optional: [(key: String, value: Schema)]) = (
        [("name", .string(length: 1...PersonRecord.maximumName)), ("role", .choice(of: PersonRole.self))],
        [
            ("apps", .array(of: .bundleID, count: 1...KeySettings.maximumApps).described("Default: all apps.").orNull),
            ("language", Self.languageSchema),
        ]
    )

    static let languageSchema = Schema.string(length: 1...35, pattern: "^[A-Za-z0-9]{1,8}(-[A-Za-z0-9]{1,8})*$")
        .described("A tag such as de, for the pages.").orNull

    /// The members that a change may have.
    static var changes: [(key: String, value: Schema)] {
        Self.schema.required.map { ($0.key, $0.value.neverNull) } + Self.schema.optional
            + [("disabled", Schema.bool.described("Whether the person cannot sign in.").neverNull)]
    }
}

extension PersonRole: JSONRepresentable {}
