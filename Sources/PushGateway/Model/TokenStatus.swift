import Foundation
import PushTypes
import PushWire

/// The state of a device token, as ``DeviceRegistry/status(of:in:)`` finds it. All listeners use it.
enum TokenStatus: Hashable, Sendable {
    /// The app is on the device.
    case active(device: UUID, topic: TopicHash)
    /// The token was valid once: the app was removed, or the token was replaced. A push to it is answered 410.
    case unregistered(UnregisteredToken)
    /// The token was not minted here, belongs to the other environment, or to a device that was never activated.
    case unknown
}

/// A device token that is not valid any more.
struct UnregisteredToken: Hashable, Sendable {
    var token: DeviceToken
    var device: UUID
    var topic: TopicHash
    /// The end of its validity.
    var since: Timestamp
}

extension PushEnvironment {
    /// The byte that stands for the environment in tokens and event blocks; 0 stands for none. Never renumber.
    var code: UInt8 {
        switch self {
        case .sandbox: 1
        case .production: 2
        }
    }

    init?(code: UInt8) {
        guard let environment = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = environment
    }
}
