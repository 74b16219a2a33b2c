package import ProviderModel
package import PushStore
package import PushSupport
package import PushTypes

extension NotificationRequest {
    /// Reads a request for an app, including the named audiences and the template to which the request refers.
    /// - Throws: ``RequestError`` that names the invalid member, or an error of the store.
    package static func read(
        _ fields: JSONFields,
        of app: AppRecord,
        now: Timestamp,
        in store: any AppStore & LibraryStore
    ) async throws -> NotificationRequest {
        var request = try NotificationRequest(
            fields,
            bundleID: app.bundleID,
            now: now,
            receipts: app.receipts,
            library: try await LibraryContents(of: fields, app: app.id, in: store)
        )
        try await request.checkTransport(of: app, in: store)
        return request
    }
}

extension NotificationRequest {
    /// Adds the warnings for credentials that use the binary protocol.
    /// - Throws: ``RequestError`` for a notification that no credential of the app can send, or an error of the store.
    fileprivate mutating func checkTransport(of app: AppRecord, in store: any AppStore) async throws {
        let lint = TransportLint(content: self.content)
        guard lint.isNeeded else { return }
        var target = self.environment
        if target == nil, case .tokens = self.audience { target = .production }
        let transports = try await store.transports(app: app.id)
        self.warnings += try lint.check(transports.filter { target == nil || $0.key == target })
    }
}

extension LibraryContents {
    /// Reads the template and the named audiences that a request names. `audience` is the name of its audience member.
    /// - Throws: ``RequestError`` for a template that does not exist. An audience that does not exist is reported when
    ///   the audience is read.
    package init(of fields: JSONFields, audience: String = "to", app: Int64, in store: any LibraryStore) async throws {
        try await self.init(ofAudience: fields.members[audience], app: app, in: store)
        guard let reference = try TemplateReference(fields) else { return }
        let place = fields.place.map { "\($0).\(TemplateReference.member)" } ?? TemplateReference.member
        guard let template = try await store.libraryItem(reference.item, of: .template, app: app) else {
            throw RequestError(.invalid, code: "no_such_template", message: "there is no such template", path: place)
        }
        var content = template.body
        if let version = reference.version, version != template.version {
            guard let earlier = try await store.libraryVersion(version, of: template.id) else {
                let message = "the template has no such version, or not any more"
                throw RequestError(.invalid, code: "no_such_version", message: message, path: "\(place).version")
            }
            content = earlier.body
        }
        try self.add(content, of: template, for: reference, at: place)
    }

    /// Reads only the named audiences to which an audience refers.
    package init(ofAudience audience: JSONValue?, app: Int64, in store: any LibraryStore) async throws {
        self.init()
        let names = audience.map(NamedAudiences.names) ?? []
        // An audience with more names has too many conditions, which its check reports.
        guard !names.isEmpty, names.count <= AudienceExpression.maximumConditions else { return }
        self.add(audiences: try await store.libraryItems(Set(names.map(LibraryItemName.name)), of: .audience, app: app))
    }
}
