/// The role of a person, which decides what the person may do.
package enum PersonRole: String, CaseIterable, Hashable, Sendable {
    /// The role of those who read.
    case viewer
    /// The role of those who send too.
    case author
    /// The role of those who register devices and run what sends too.
    case `operator`
    /// The role of those who may do everything.
    case admin

    /// The scopes of a person with this role.
    package var scopes: Set<APIScope> {
        switch self {
        case .viewer: [.read]
        case .author: [.read, .send]
        case .operator: [.read, .send, .register, .operate]
        case .admin: [.admin]
        }
    }
}
