/// The role of a person, which decides what the person may do.
package enum PersonRole: String, CaseIterable, Hashable, Sendable {
    /// The role of people who may only read.
    case viewer
    /// The role of people who may read and send notifications.
    case author
    /// The role of people who may read, send notifications, register devices and operate the provider.
    case `operator`
    /// The role of people who may do everything.
    case admin

    package var scopes: Set<APIScope> {
        switch self {
        case .viewer: [.read]
        case .author: [.read, .send]
        case .operator: [.read, .send, .register, .operate]
        case .admin: [.admin]
        }
    }
}
