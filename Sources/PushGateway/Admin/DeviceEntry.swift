import PushHTTP
import PushTypes

/// A device in a list. Times are in milliseconds since 1970, as everywhere in the admin API.
struct DeviceEntry: ResponseObject {
    let device: ActivatedDevice
    /// Indicates whether the device is connected, in any environment.
    let isOnline: Bool

    /// Indicates whether its certificate was revoked: it cannot connect.
    private var isRevoked: Bool { self.device.revokedAt != nil }
    /// The topics of the installed apps, in any environment.
    private var topics: [String] { Set(self.device.installs.filter(\.isActive).map(\.topic.name)).sorted() }

    static let members: [ResponseMember<Self>] = [
        .required("deviceId", \.device.id),
        .optional("name", \.device.name),
        .required("online", \.isOnline),
        .required("revoked", \.isRevoked),
        .required("activatedAt", \.device.activatedAt),
        .optional("lastSeenAt", \.device.lastSeenAt),
        .required("topics", \.topics),
    ]
}

/// A device in full.
///
/// Only the owner of the machine reaches the admin API, and needs the token to try a push, so it is shown whole.
struct DeviceDetails: ResponseObject {
    let device: ActivatedDevice
    let connections: [Connection]
    /// The apps in the order of their topics.
    let installs: [Install]

    static let members: [ResponseMember<Self>] = [
        .required("deviceId", \.device.id),
        .optional("name", \.device.name),
        .required("activatedAt", \.device.activatedAt),
        .optional("lastSeenAt", \.device.lastSeenAt),
        .optional("certificateSerial", \.device.certificateSerial, "In lower-case hexadecimal."),
        .optional("revokedAt", \.device.revokedAt),
        .required("epoch", \.device.epoch, "The number of reinstallations of the system."),
        .required("connections", \.connections),
        .required("installs", \.installs),
    ]

    /// The connection of the device in one environment.
    struct Connection: ResponseObject {
        let environment: PushEnvironment
        /// `nil` if the device is not connected.
        let session: DeviceSession?

        private var isOnline: Bool { self.session != nil }
        private var unacknowledged: Int { self.session?.unacknowledged.count ?? 0 }
        private var channels: Int { self.session?.channels.count ?? 0 }

        static let members: [ResponseMember<Self>] = [
            .required("environment", \.environment),
            .required("online", \.isOnline),
            .optional("active", \.session?.isActive, "Is true while the device is in use."),
            .required("unacknowledged", \.unacknowledged),
            .required("channels", \.channels, "The channels that it subscribed to on this connection."),
        ]
    }

    /// An app that is or was installed.
    struct Install: ResponseObject {
        let install: ActivatedDevice.Install
        /// The current token in hexadecimal; `nil` for an app that was removed.
        let token: String?

        static let members: [ResponseMember<Self>] = [
            .required("environment", \.install.environment),
            .required("topic", \.install.topic),
            .required("generation", \.install.generation, "The number of tokens that were minted for it."),
            .required("tokenKeyId", \.install.keyID, "The token key of the current token."),
            .required("mintedAt", \.install.mintedAt),
            .optional("endedAt", \.install.endedAt, "The past or future end of its token."),
            .optional("token", \.token),
        ]
    }

    /// - Throws: An error of the encryption, for a token that cannot be sealed.
    init(_ device: ActivatedDevice, connections: [Connection], tokens: DeviceRegistry) throws {
        (self.device, self.connections) = (device, connections)
        self.installs = try device.installs
            .sorted { ($0.topic.name, $0.environment.rawValue) < ($1.topic.name, $1.environment.rawValue) }
            .map { install in
                let token = try tokens.currentToken(install.hash, on: device.id, in: install.environment)
                return Install(install: install, token: token?.hex)
            }
    }
}
