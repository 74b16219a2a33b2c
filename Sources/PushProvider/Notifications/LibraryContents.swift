package import ProviderModel
package import PushStore
package import PushSupport

/// The named audiences and the content of the template that one request takes from its app's library, as they were at one moment.
///
/// They are copied into the request when it is accepted, so that a later change of an audience or a template does not affect it.
package struct LibraryContents: Hashable, Sendable {
    /// The contents for a request that names no item of the library.
    package static let none = LibraryContents()

    package private(set) var audiences = NamedAudiences.none
    /// The members of the template's content, with the values of the request filled in; `nil` if the request names no template.
    private var content: [String: JSONValue]?
    /// The items that cannot be deleted while a schedule has this request.
    package private(set) var uses: Set<LibraryUse> = []

    private init() {}

    /// Reads the items that a request names.
    /// - Throws: ``RequestError`` for a template that does not exist. An audience that does not exist is reported when the
    ///   audience is read.
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

    /// Reads only the named audiences that an audience refers to.
    package init(ofAudience audience: JSONValue?, app: Int64, in store: any LibraryStore) async throws {
        try await self.readAudiences(audience, app, store)
    }

    private mutating func readAudiences(_ audience: JSONValue?, _ app: Int64, _ store: any LibraryStore) async throws {
        let names = audience.map(NamedAudiences.names) ?? []
        // An audience with more names has too many conditions, which its check reports.
        guard !names.isEmpty, names.count <= AudienceExpression.maximumConditions else { return }
        let items = try await store.libraryItems(Set(names.map(LibraryItemName.name)), of: .audience, app: app)
        var conditions: [BytewiseString: [String: JSONValue]] = [:]
        for case (.name(let name), let item) in items {
            conditions[name] = item.body
            self.uses.insert(LibraryUse(item: item.id))
        }
        self.audiences = NamedAudiences(conditions)
    }

    /// Returns the members of a request, completed with those of the template. A member that is `null` in the request is removed.
    func merged(_ fields: JSONFields) throws(RequestError) -> JSONFields {
        guard let content else { return fields }
        var members = fields.members
        members[TemplateReference.member] = nil
        members.merge(content.filter { !fields.nulls.contains($0.key) }) { own, _ in own }
        let known = NotificationRequest.object.known.union(members.keys)
        return try JSONFields(members: members, path: fields.place, known: known)
    }
}
