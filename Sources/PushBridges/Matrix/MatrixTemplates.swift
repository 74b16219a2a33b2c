import Logging
import ProviderModel
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// Renders the alerts of pushes from the templates that a bridge names.
///
/// A template may use the variables `sender`, `room` and `body`. The other parts of the push are not changed: the app's
/// own members, the ids, the badge and the collapse id.
struct MatrixTemplates: Sendable {
    /// The maximum length of a variable's value, in characters, which amount to at most 2,048 bytes. Longer values are
    /// truncated.
    private static let maximumValue = 512

    let store: any AppStore & LibraryStore
    let log: RateLimitedLog

    /// Returns the request with the alert of a template, or `nil` if the bridge names no template for the alert or the
    /// template cannot be used.
    func request(for push: MatrixPush, now: Timestamp) async -> NotificationRequest? {
        guard let alert = push.content.alert, let name = push.app.settings.template(for: alert.key) else { return nil }
        do {
            let fields = try await self.fields(push, alert, template: name)
            guard let app = try await self.store.app(id: push.app.id) else { return nil }
            return try await NotificationRequest.read(fields, of: app, now: now, in: self.store)
        } catch {
            let why = (error as? RequestError).map { "\($0.path ?? ""): \($0.message)" } ?? "\(error)"
            let metadata: Logger.Metadata = [
                "bridge": "\(push.app.name)", "template": "\(name)", "loc_key": "\(alert.key)", "error": "\(why)",
            ]
            let message = "template of a Matrix app cannot be used, the text is its loc-key"
            self.log.log(.warning, message, metadata, app: push.app.bundleID)
            return nil
        }
    }

    private func fields(_ push: MatrixPush, _ alert: MatrixAlert, template name: String) async throws -> JSONFields {
        var data = push.content.members
        let template = try await self.store.libraryItem(.name(BytewiseString(name)), of: .template, app: push.app.id)
        let texts = (template?.body ?? [:]).filter { $0.key != "variables" }
        let aps = data.removeValue(forKey: "aps") ?? .null
        var members: [String: JSONValue?] = [
            "to": .object(["tokens": .array([.string(push.token.hex)])]),
            "environment": push.app.environment.map { .string($0.rawValue) },
            "priority": .integer(Int64(push.priority.rawValue)), "collapseId": push.collapseID.map { .string($0) },
            "badge": aps["badge"], "sound": aps["sound"], "data": .object(data),
            "mutableContent": aps["mutable-content"] == .integer(1) ? .bool(true) : nil,
            "template": .object([
                "name": .string(name), "variables": .object(Self.variables(alert, in: .object(texts))),
            ]),
        ]
        if case .at(let seconds) = push.expiration { members["expiration"] = .integer(seconds) }
        let present = members.compactMapValues { $0 == .null ? nil : $0 }
        return try JSONFields(members: present, path: nil, known: NotificationRequest.object.known)
    }

    /// Returns the values of the alert's variables that occur in a template. A variable without a value is omitted, so
    /// that the template's default is used.
    private static func variables(_ alert: MatrixAlert, in texts: JSONValue) -> [String: JSONValue] {
        var used: [String: JSONValue] = [:]
        for (name, value) in alert.variables {
            guard Self.has("{{\(name)}}", in: texts) || !value.isEmpty && Self.has("{{\(name)|", in: texts) else {
                continue
            }
            used[name] = .string(String(String.UnicodeScalarView(value.unicodeScalars.prefix(Self.maximumValue))))
        }
        return used
    }

    /// Returns whether a string of a template contains the placeholder `mark`.
    private static func has(_ mark: String, in texts: JSONValue) -> Bool {
        switch texts {
        case .string(let text): text.contains(mark)
        case .array(let values): values.contains { Self.has(mark, in: $0) }
        case .object(let members): members.values.contains { Self.has(mark, in: $0) }
        case .null, .bool, .integer, .number: false
        }
    }
}
