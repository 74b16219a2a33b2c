package import PushStore
package import PushSupport

/// The items that one request takes from its app's library: named audiences, and the content of a template, as they were at one moment.
///
/// The request is made of them when it is accepted, so that a later change of an audience or a template changes nothing that
/// was accepted.
package struct LibraryContents: Hashable, Sendable {
    /// The contents for a request that names nothing.
    package static let none = LibraryContents()

    package private(set) var audiences = NamedAudiences.none
    /// The members of the template's content, with the values of the request; `nil` where it names no template.
    private var content: [String: JSONValue]?
    /// The items that a schedule with this request keeps from deletion.
    package private(set) var uses: Set<LibraryUse> = []

    private init() {}

    /// Reads what the members of a request name.
    /// - Throws: ``RequestError`` for a template that does not exist. Missing audiences are errors of the audience.
    package init(of fields: JSONFields, audience: String = "to", app: Int64, in store: any LibraryStore) async throws {
        try await self.readAudiences(fields.members[audience], app, store)
        guard let reference = try TemplateReference(fields) else { return }
        let place = fields.place.map { "\($0).\(TemplateReference.member)" } ?? TemplateReference.member
        guard let template = try await store.libraryItem(reference.item, of: .template, app: app) else {
            throw RequestError(.invalid, code: "no_such_template", message: "there is no such template", path: place)
        }
        self.uses.insert(LibraryUse(item: template.id, version: reference.version))
        var content = template.body
        if let version = reference.version, version != template.version {
            guard let earlier = try await store.libraryVersion(version, of: template.id) else {
                let message = "the template has no such version, or not any more"
                throw RequestError(.invalid, code: "no_such_version", message: message, path: "\(place).version")
            }
            content = earlier.body
        }
        self.content = try reference.variables.filled(content, at: place)
    }

    /// Reads the named audiences of an audience alone.
    package init(ofAudience audience: JSONValue?, app: Int64, in store: any LibraryStore) async throws {
        try await self.readAudiences(audience, app, store)
    }

    private mutating func readAudiences(_ audience: JSONValue?, _ app: Int64, _ store: any LibraryStore) async throws {
        let names = audience.map(NamedAudiences.names) ?? []
        // More are too many conditions, as the check of the audience says.
        guard !names.isEmpty, names.count <= AudienceExpression.maximumConditions else { return }
        let items = try await store.libraryItems(Set(names.map(LibraryItemName.name)), of: .audience, app: app)
        var conditions: [BytewiseString: [String: JSONValue]] = [:]
        for case (.name(let name), let item) in items {
            conditions[name] = item.body
            self.uses.insert(LibraryUse(item: item.id))
        }
        self.audiences = NamedAudiences(conditions)
    }

    /// Returns the members of a request with those of the template that it does not have itself. `null` leaves one out.
    func merged(_ fields: JSONFields) throws(RequestError) -> JSONFields {
        guard let content else { return fields }
        var members = fields.members
        members[TemplateReference.member] = nil
        members.merge(content.filter { !fields.nulls.contains($0.key) }) { own, _ in own }
        let known = NotificationRequest.object.known.union(members.keys)
        return try JSONFields(members: members, path: fields.place, known: known)
    }
}
