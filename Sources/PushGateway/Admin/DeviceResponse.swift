import Foundation
import PushSupport
import PushTypes

/// A device as the list shows it. Times are milliseconds since 1970, as everywhere at the admin door.
struct DeviceEntry: Encodable {
    var deviceId: String
    var name: String?
    var online: Bool
    var revoked: Bool
    var activatedAt: Int64
    var lastSeenAt: Int64?
    /// Of the apps that are there, in any environment.
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

/// Everything that the gateway knows of a device.
///
/// The door is for this machine's owner only, and a token is what one needs to try a push: here it is shown whole.
struct DeviceDetails: Encodable {
    var deviceId: String
    var name: String?
    var activatedAt: Int64
    var lastSeenAt: Int64?
    /// Lower-case hexadecimal.
    var certificateSerial: String?
    var revokedAt: Int64?
    /// Counts installations of the device's system, from 0.
    var epoch: UInt32
    var connections: [Connection]
    var installs: [Install]

    /// The device in one environment.
    struct Connection: Encodable {
        var environment: String
        var online: Bool
        /// Whether the device is in use; `nil` when it is not connected.
        var active: Bool?
        var unacknowledged: Int
        /// Channels that it follows over this connection.
        var channels: Int

        init(_ environment: PushEnvironment, _ session: DeviceSession?) {
            self.environment = environment.rawValue
            self.online = session != nil
            self.active = session?.isActive
            self.unacknowledged = session?.unacknowledged.count ?? 0
            self.channels = session?.channels.count ?? 0
        }
    }

    /// An app on the device, or one that was there.
    struct Install: Encodable {
        var environment: String
        var topic: String
        /// Counts the tokens minted for it, from 1.
        var generation: UInt32
        /// The token key that sealed the current token.
        var tokenKeyId: UInt8
        var mintedAt: Int64
        /// When its token ended, or will.
        var endedAt: Int64?
        /// Hexadecimal; only while the app is there.
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

/// A device that has a new certificate.
struct ActivatedDevice: Encodable {
    var deviceId: String
    /// PEM, as are the next two.
    var certificate: String
    var deviceAuthority: String
    /// What the gateway's own certificate chains to.
    var authority: String
}

extension RequestError {
    static let noSuchDevice = RequestError(
        .notFound,
        code: "no_such_device",
        message: "there is no device with this id",
        path: "device"
    )
}
