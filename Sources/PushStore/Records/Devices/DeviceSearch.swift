package import PushTypes

/// The conditions on the devices of a list, all of which must hold.
package struct DeviceSearch: Hashable, Sendable {
    /// The states of a device.
    package enum State: String, Hashable, Sendable, CaseIterable {
        case active
        case inactive
        /// Active, and called bad by the push service since the last accepted push.
        case suspected
    }

    /// The least bytes of a token's beginning.
    package static let minimumPrefix = 2

    package var app: Int64
    /// The first bytes of the token.
    package var tokenPrefix: [UInt8]?
    package var user: String?
    package var installation: String?
    package var tag: String?
    package var environment: PushEnvironment?
    package var kind: DeviceTokenKind?
    package var state: State?

    package init(app: Int64) { self.app = app }

    /// Indicates whether a condition leaves few devices, which are sorted for each page.
    package var isNarrow: Bool { self.tokenPrefix != nil || self.user != nil || self.installation != nil }
}

/// The orders in which devices are listed. Each has an index.
package enum DeviceSort: String, Hashable, Sendable, CaseIterable {
    /// The first registration, the oldest first.
    case oldest
    /// The first registration, the newest first.
    case newest
    /// The latest registration, the newest first.
    case lastSeen
    /// Those with a user, by the bytes of its id.
    case user
    case token
}
