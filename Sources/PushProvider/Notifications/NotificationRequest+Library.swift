package import PushStore
package import PushSupport
package import PushTypes

extension NotificationRequest {
    /// Reads a request of an app, with the named audiences and the template that it names.
    /// - Throws: ``RequestError`` that names the member at fault, or an error of the store.
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
