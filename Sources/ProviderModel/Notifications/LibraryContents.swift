package import PushSupport

/// The named audiences and the template's content that one request refers to, as they were at one moment.
package struct LibraryContents: Hashable, Sendable {
    /// The contents for a request that names no item of the library.
    package static let none = LibraryContents()

    package private(set) var audiences = NamedAudiences.none
    /// The members of the template's content, with the request's values filled in, or `nil` for no template.
    private var content: [String: JSONValue]?
    /// The items that the request uses. They cannot be deleted while a schedule has the request.
    package private(set) var uses: Set<LibraryUse> = []

    package init() {}

    /// Adds the audiences that a request names.
    package mutating func add(audiences items: [LibraryItemName: LibraryItem]) {
        var conditions: [BytewiseString: [String: JSONValue]] = [:]
        for case (.name(let name), let item) in items {
            conditions[name] = item.body
            self.uses.insert(LibraryUse(item: item.id))
        }
        self.audiences = NamedAudiences(conditions)
    }

    /// Adds the content of the template that a request names.
    /// - Parameters:
    ///   - content: The members of the content, of the wanted version.
    ///   - place: The path of the reference in the request.
    /// - Throws: ``RequestError`` for a variable that the template does not have.
    package mutating func add(
        _ content: [String: JSONValue],
        of template: LibraryItem,
        for reference: TemplateReference,
        at place: String
    ) throws(RequestError) {
        self.uses.insert(LibraryUse(item: template.id, version: reference.version))
        self.content = try reference.variables.filled(content, at: place)
    }

    /// Returns the members of a request and those of its template. A member that is `null` in the request is removed.
    func merged(_ fields: JSONFields) throws(RequestError) -> JSONFields {
        guard let content else { return fields }
        var members = fields.members
        members[TemplateReference.member] = nil
        members.merge(content.filter { !fields.nulls.contains($0.key) }) { own, _ in own }
        let known = NotificationRequest.object.known.union(members.keys)
        return try JSONFields(members: members, path: fields.place, known: known)
    }
}
