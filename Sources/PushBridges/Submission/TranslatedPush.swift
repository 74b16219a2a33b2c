import ProviderModel
import PushSupport
import PushTypes

/// A push of another system, translated into the members of a notification request without the audience.
struct TranslatedPush: Hashable, Sendable {
    var members: [String: JSONValue] = [:]
    var name: String?

    struct Checked: Hashable, Sendable {
        var content: NotificationContent
        var warnings: [ContentWarning]
        var name: String?

        func request(to audience: Audience, environment: PushEnvironment?) -> NotificationRequest {
            var request = NotificationRequest(content: self.content, audience: audience, environment: environment)
            (request.warnings, request.name) = (self.warnings, self.name)
            return request
        }
    }

    /// Checks the push by the rules for requests of the API.
    /// - Throws: ``RequestError`` that names the member at fault.
    func checked(for app: Topic, now: Timestamp) throws(RequestError) -> Checked {
        var members = self.members
        // The check needs an audience, which is later replaced by the one that the other system names.
        members["to"] = .object(["all": .bool(true)])
        let request = try NotificationRequest(.object(members), bundleID: app, now: now)
        let warnings = request.warnings.filter { $0.field != "to" }
        return Checked(content: request.content, warnings: warnings, name: self.name)
    }

    /// Returns `text`, truncated to the maximum length of a notification's name, or `nil` if it is absent or empty.
    static func name(_ text: String?) -> String? {
        let name = text?.bounded(bytes: NotificationRequest.maximumName)
        return name?.isEmpty == true ? nil : name
    }
}

/// Converts expirations from other systems' clients, which are in UNIX seconds.
enum ForeignExpiration {
    /// The year 2100. Later expirations are omitted, because the push service stores nothing for longer than 30 days.
    private static let latest: Int64 = 4_102_444_800

    /// Returns the member `expiration` of a request, or `nil` to omit it.
    ///
    /// A past time becomes 0, which requests one delivery attempt without storage from the push service. A negative
    /// time is treated as absent.
    static func member(_ seconds: Int64?, now: Timestamp) -> JSONValue? {
        guard let seconds, seconds >= 0, seconds <= Self.latest else { return nil }
        return .integer(Timestamp(seconds: seconds) <= now ? 0 : seconds)
    }
}

extension String {
    /// Returns the longest prefix of whole Unicode scalars that has at most `count` bytes in UTF-8.
    func bounded(bytes count: Int) -> String {
        guard self.utf8.count > count else { return self }
        var (scalars, length) = (String.UnicodeScalarView(), 0)
        for scalar in self.unicodeScalars {
            length += UTF8.width(scalar)
            guard length <= count else { break }
            scalars.append(scalar)
        }
        return String(scalars)
    }
}
