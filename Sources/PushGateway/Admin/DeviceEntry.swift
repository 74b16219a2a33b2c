import Foundation
import PushSupport
import PushTypes

/// A device in a list. Times are in milliseconds since 1970, as everywhere in the admin API.
struct DeviceEntry: Encodable {
    var deviceId: String
    var name: String?
    var online: Bool
    var revoked: Bool
    var activatedAt: Int64
    var lastSeenAt: Int64?
    /// The topics of the installed apps, in any environment.
    var topics: [String]

    init(_ device: Device, isOnline: Bool) {
        self.deviceId = device.id.uuidString
        self.name = device.name
        self.online = isOnline
        self.revoked = device.revokedAt != nil
        self.activatedAt = device.activatedAt.milliseconds
        self.lastSeenAt = device.lastSeenAt?.milliseconds
        self.topics = Set(device.installs.filter(\.isActive).map(\.topic.name)).sorted()
    }
}

/// A device in full.
///
/// Only the owner of the machine reaches the admin API, and needs the token to try a push, so it is shown whole.
struct DeviceDetails: Encodable {
    var deviceId: String
    var name: String?
    var activatedAt: Int64
    var lastSeenAt: Int64?
    /// In lower-case hexadecimal.
    var certificateSerial: String?
    var revokedAt: Int64?
    /// The number of reinstallations of the system.
    var epoch: UInt32
    var connections: [Connection]
    var installs: [Install]

    /// The connection of the device in one environment.
    struct Connection: Encodable {
        var environment: String
        var online: Bool
        /// Is `true` while the device is in use; `nil` if it is not connected.
        var active: Bool?
        var unacknowledged: Int
        /// The channels that it subscribed to on this connection.
        var channels: Int

        init(_ environment: PushEnvironment, _ session: DeviceSession?) {
            self.environment = environment.rawValue
            self.online = session != nil
            self.active = session?.isActive
            self.unacknowledged = session?.unacknowledged.count ?? 0
            self.channels = session?.channels.count ?? 0
        }
    }

    /// An app that is or was installed.
    struct Install: Encodable {
        var environment: String
        var topic: String
        /// The number of tokens that were minted for it.
        var generation: UInt32
        /// The token key of the current token.
        var tokenKeyId: UInt8
        var mintedAt: Int64
        /// The past or future end of its token.
        var endedAt: Int64?
        /// In hexadecimal; `nil` for an app that was removed.
        var token: String?
    }

    init(_ device: Device, connections: [Connection], tokens: DeviceRegistry) throws {
        self.deviceId = device.id.uuidString
        self.name = device.name
        self.activatedAt = device.activatedAt.milliseconds
        self.lastSeenAt = device.lastSeenAt?.milliseconds
        self.certificateSerial = device.certificateSerial
        self.revokedAt = device.revokedAt?.milliseconds
        self.epoch = device.epoch
        self.connections = connections
        self.installs = try device.installs
            .sorted { ($0.topic.name, $0.environment.rawValue) < ($1.topic.name, $1.environment.rawValue) }
            .map { install in
                Install(
                    environment: install.environment.rawValue,
                    topic: install.topic.name,
                    generation: install.generation,
                    tokenKeyId: install.keyID,
                    mintedAt: install.mintedAt.milliseconds,
                    endedAt: install.endedAt?.milliseconds,
                    token: try tokens.currentToken(install.hash, on: device.id, in: install.environment)?.hex
                )
            }
    }
}

/// The certificates of an activated device.
struct ActivatedDevice: Encodable {
    var deviceId: String
    /// In PEM, as the next two.
    var certificate: String
    var deviceAuthority: String
    /// The authority of the gateway's own certificate.
    var authority: String
}
