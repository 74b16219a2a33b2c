package import PushTypes

/// The conditions on the devices of a list. A device must meet all of them, where `nil` accepts any value.
package struct DeviceSearch: Hashable, Sendable {
    /// A state to which a list of devices can be limited.
    package enum State: String, Hashable, Sendable, CaseIterable {
        case active
        case inactive
        /// An active device whose token the push service has called bad since the last accepted push.
        case suspected
    }

    /// The minimum length of ``tokenPrefix``, in bytes. A search with a shorter one is rejected.
    package static let minimumPrefix = 2

    package var app: Int64
    /// The first bytes of the devices' tokens, or `nil` for any.
    package var tokenPrefix: [UInt8]?
    package var user: String?
    package var installation: String?
    package var tag: String?
    package var environment: PushEnvironment?
    package var kind: DeviceTokenKind?
    package var state: State?

    package init(app: Int64) { self.app = app }

    /// A Boolean value that indicates whether the search names a token prefix, a user or an installation. It then
    /// matches so few devices that they can be sorted for each page.
    package var isNarrow: Bool { self.tokenPrefix != nil || self.user != nil || self.installation != nil }
}

/// The order of a list of devices. Each order has an index.
package enum DeviceSort: String, Hashable, Sendable, CaseIterable {
    /// The order by the first registration, oldest first.
    case oldest
    /// The order by the first registration, newest first.
    case newest
    /// The order by the latest registration, newest first.
    case lastSeen
    /// The order by the bytes of the user's id. Devices without a user are left out.
    case user
    case token
}
