package import Foundation
package import PushSupport
package import PushTypes

/// The members that several kinds of requests have in common.
extension Member {
    /// Creates a request member that holds an id.
    /// - Parameter message: The error message for a text that is not a UUID.
    package static func id(_ name: String, _ message: String) -> RequestMember<UUID> {
        Self.text(name, maximum: 36, as: .uuid).parsed("invalid_id", message) { UUID(uuidString: $0) }
    }

    /// The maximum length of most texts that name something, in bytes: user ids, tags, locales, time zones, versions,
    /// installations, and the names and texts of attributes.
    package static let maximumText = 256
    /// The maximum length of a URL, in bytes.
    package static let maximumURL = 2048

    /// The member `url`: the URL of a server to which the provider connects.
    package static let url = Self.text(
        "url",
        1...Self.maximumURL,
        pattern: "^[Hh][Tt][Tt][Pp][Ss]?://[^\\s\\\\<>#]+$"
    )

    /// The member `kind`: the kind of a device token.
    package static let tokenKind = Self.choice("kind", of: DeviceTokenKind.self, maximum: 32, code: "invalid_kind")

    /// The member `environment`: `sandbox` (or `development`) or `production`.
    package static let environment = Self.text("environment", maximum: 32, as: .environment)
        .parsed("invalid_environment", "use sandbox or production") { PushEnvironment(named: $0) }
}

extension PushEnvironment {
    /// Creates the environment with a name, or returns `nil` for an unknown name. `development` stands for the sandbox.
    package init?(named name: String) {
        guard let environment = name == "development" ? .sandbox : PushEnvironment(rawValue: name) else { return nil }
        self = environment
    }
}
