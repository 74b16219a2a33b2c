import PushProvider
import PushStore
import PushSupport
import PushTypes

/// A push of another system in the members of a notification's request, without the audience.
struct TranslatedPush: Hashable, Sendable {
    /// The members of the request that are content: `payload`, `pushType`, `priority` and so on.
    var members: [String: JSONValue] = [:]
    /// The name by which people find the notification.
    var name: String?

    /// The content of the push, which the provider's own rules allow.
    struct Checked: Hashable, Sendable {
        var content: NotificationContent
        var warnings: [ContentWarning]
        var name: String?

        /// Returns the request to send it to an audience.
        func request(to audience: Audience, environment: PushEnvironment?) -> NotificationRequest {
            var request = NotificationRequest(content: self.content, audience: audience, environment: environment)
            (request.warnings, request.name) = (self.warnings, self.name)
            return request
        }
    }

    /// Checks the push by the rules for requests of the API.
    ///
    /// - Throws: ``RequestError`` that names the member at fault.
    func checked(for app: Topic, now: Timestamp) throws(RequestError) -> Checked {
        var members = self.members
        // The content is checked for everybody, and sent to the audience that the other system names.
        members["to"] = .object(["all": .bool(true)])
        let request = try NotificationRequest(.object(members), bundleID: app, now: now)
        let warnings = request.warnings.filter { $0.field != "to" }
        return Checked(content: request.content, warnings: warnings, name: self.name)
    }

    /// Returns as much of a text as the name of a notification may have; `nil` for none.
    static func name(_ text: String?) -> String? {
        let name = text?.bounded(bytes: NotificationRequest.maximumName)
        return name?.isEmpty == true ? nil : name
    }
}
