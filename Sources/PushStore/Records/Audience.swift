package import PushProtocol

/// To whom a notification goes.
package enum Audience: Hashable, Sendable {
    /// These tokens, registered or not.
    case tokens([DeviceToken])
    case user(String)
    case tag(String)
    case all
}
