import PushSupport

/// The tags and attributes that an installation may write itself, by the settings of its app.
enum InstallationPermissions {
    /// Checks the tags and attributes that an installation registers. They replace only those that it may write itself.
    /// - Throws: ``RequestError`` that names the member at fault, and the app's setting.
    static func apply(
        to registration: inout DeviceRegistration,
        _ fields: JSONFields,
        of app: AppRecord
    ) throws(RequestError) {
        if fields.nulls.contains("tags") { registration.tags = [] }
        if let tags = registration.tags {
            registration.ownTags = app.installationTags
            for tag in tags.sorted().map(\.text) where !app.installationTags.match(tag) {
                throw Self.notAllowed("tag", tag, field: "tags", setting: "installationTags")
            }
        }
        if fields.nulls.contains("attributes") { registration.clearedAttributes = app.installationAttributes }
        for name in registration.attributes.keys.sorted() where !app.installationAttributes.match(name) {
            let field = "attributes.\(name)"
            throw Self.notAllowed("attribute", name, field: field, setting: "installationAttributes")
        }
    }

    private static func notAllowed(_ what: String, _ name: String, field: String, setting: String) -> RequestError {
        let message = """
            the app does not let installations write the \(what) \(name): add it to the app's setting \(setting)
            """
        return RequestError(.forbidden, code: "\(what)_not_allowed", message: message, path: field)
    }
}
