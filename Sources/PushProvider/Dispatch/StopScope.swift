package import Foundation
package import ProviderModel
import PushStore
package import PushTypes

/// The pushes to which a stop applies: a change because of which they must not be sent (docs/decisions/0051).
package enum StopScope: Hashable, Sendable {
    case notification(UUID)
    case app(Int64)
    /// All pushes to an Apple environment whose credential was removed. Browsers have credentials of their own.
    case environment(AppEnvironment)
    /// The pushes to changed devices whose recipients were read before the change.
    case devices(Set<Int64>, app: Int64)
    /// The pushes to an erased user's tokens whose recipients were read before the erasure.
    case tokens(Set<DeviceToken>, app: Int64)

    /// A Boolean value that indicates whether the stop also applies to a page that is read after the stop.
    ///
    /// A page that is read after a change of devices includes the change, so the stop need not apply to it.
    var outlastsReading: Bool {
        switch self {
        case .notification, .app, .environment: true
        case .devices, .tokens: false
        }
    }

    /// Returns whether the stop may apply to pushes of a notification.
    func mayConcern(_ notification: UUID, app: Int64, isWeb: Bool) -> Bool {
        switch self {
        case .notification(let id): id == notification
        case .app(let id), .devices(_, let id), .tokens(_, let id): id == app
        case .environment(let environment): environment.app == app && !isWeb
        }
    }

    /// Returns whether the stop applies to a recipient, given that it may apply to the recipient's notification.
    func concerns(_ recipient: Recipient) -> Bool {
        switch self {
        case .notification, .app: true
        case .environment(let environment): recipient.environment == environment.environment
        case .devices(let devices, _): recipient.device.map(devices.contains) ?? false
        case .tokens(let tokens, _): tokens.contains(recipient.token)
        }
    }
}
