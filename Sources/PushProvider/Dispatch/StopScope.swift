package import Foundation
package import ProviderModel
import PushStore
package import PushTypes

/// The pushes that a stop concerns (docs/decisions/0051).
package enum StopScope: Hashable, Sendable {
    case notification(UUID)
    case app(Int64)
    /// The credential of an environment was removed. Browsers have other credentials.
    case environment(AppEnvironment)
    /// Devices that have changed, as they were read before the change.
    case devices(Set<Int64>, app: Int64)
    /// Tokens of a user that is erased, as they were read before the erasure.
    case tokens(Set<DeviceToken>, app: Int64)

    /// Indicates whether the stop still applies to a page that is read after it.
    ///
    /// A page that is read after a change of devices includes the change.
    var outlastsReading: Bool {
        switch self {
        case .notification, .app, .environment: true
        case .devices, .tokens: false
        }
    }

    /// Returns `true` if the stop may concern a notification.
    func mayConcern(_ notification: UUID, app: Int64, isWeb: Bool) -> Bool {
        switch self {
        case .notification(let id): id == notification
        case .app(let id), .devices(_, let id), .tokens(_, let id): id == app
        case .environment(let environment): environment.app == app && !isWeb
        }
    }

    /// Returns `true` if the stop concerns a recipient, for a notification that it may concern.
    func concerns(_ recipient: Recipient) -> Bool {
        switch self {
        case .notification, .app: true
        case .environment(let environment): recipient.environment == environment.environment
        case .devices(let devices, _): recipient.device.map(devices.contains) ?? false
        case .tokens(let tokens, _): tokens.contains(recipient.token)
        }
    }
}
