import Foundation
import GRDB
import Logging
import NIOCore
import NIOSSL
import PushProtocol

/// What stands behind a gateway's doors, built from its data directory.
final class GatewayCore: Sendable {
    static let authorityName = "authority"
    private static let deviceAuthorityName = "device-authority"

    let authorityPEM: String
    let environments: [EnvironmentCore]
    let adminDoor: AdminDoor
    let doors = OpenDoors()
    /// Where a door registers what it counts.
    let gauges = GaugeSource()
    private let events: EventLog
    private let database: DatabasePool
    private let serverTLS: TLSConfiguration
    private let deviceAuthorityPEM: String
    private let logger: Logger
    /// Holds the lock on the folder until the end of ``close()``.
    private let directory: GatewayDirectory

    init(configuration: GatewayConfiguration, time: any TimeSource, logger: Logger) throws {
        let directory = try DataDirectory(configuration.dataDirectory)
        let now = Date(timeIntervalSince1970: Double(time.now.seconds))
        let authority = try CertificateAuthority(
            name: Self.authorityName,
            commonName: "Martlet Gateway Authority",
            in: directory,
            now: now
        )
        let deviceAuthority = try CertificateAuthority(
            name: Self.deviceAuthorityName,
            commonName: "Martlet Device Authority",
            in: directory,
            now: now
        )
        let server = try ServerCertificate(
            authority: authority,
            names: configuration.serverNames,
            in: directory,
            now: now
        )
        let database = try GatewayDatabase.open(path: directory.file(GatewayDatabase.file))
        let commit = GroupCommit(database)
        var eventLimits = EventLog.Limits()
        eventLimits.events = configuration.limits.events
        eventLimits.age = configuration.limits.eventAge
        let events = try EventLog(database: database, commit: commit, limits: eventLimits, logger: logger)
        let devices = try DeviceRegistry(
            database: database,
            commit: commit,
            mint: TokenMint(keys: try TokenKeys.load(from: directory)),
            events: events,
            time: time
        )
        let shared = SharedCore(
            database: database,
            commit: commit,
            providers: try ProviderRegistry(database: database, commit: commit),
            devices: devices,
            events: events,
            feedback: NoFeedback(),
            authenticator: DeviceAuthenticator(authority: deviceAuthority, devices: devices),
            sequences: MessageSequence(last: try database.read(MessageTable.lastSequence)),
            time: time,
            logger: logger
        )
        self.environments = configuration.doors.keys.sorted { $0.rawValue > $1.rawValue }
            .map { EnvironmentCore($0, shared: shared, configuration: configuration) }
        self.events = events
        self.authorityPEM = try authority.pem
        self.deviceAuthorityPEM = try deviceAuthority.pem
        self.serverTLS = try server.tlsConfiguration(protocols: [])
        self.directory = GatewayDirectory(directory)
        let activation = DeviceActivation(
            authority: deviceAuthority,
            deviceAuthorityPEM: self.deviceAuthorityPEM,
            authorityPEM: self.authorityPEM
        )
        let parts: [any AdminRoutes] = [
            StatusController(
                doors: self.doors,
                configuration: configuration,
                devices: devices,
                environments: self.environments,
                events: events
            ),
            AppsController(registry: shared.providers),
            DevicesController(devices: devices, environments: self.environments),
            DeviceChangesController(
                devices: devices,
                environments: self.environments,
                activation: activation,
                time: time
            ),
            TokenKeysController(mint: devices.mint, directory: self.directory),
            EventsController(events: events, devices: devices, environments: self.environments),
        ]
        self.adminDoor = AdminDoor(
            parts: parts,
            gauges: self.gauges,
            authorityPEM: self.authorityPEM,
            logger: logger
        )
        CoreGauges(
            database: database,
            commit: commit,
            devices: devices,
            events: events,
            authenticator: shared.authenticator
        ).add(to: self.gauges, environments: self.environments)
        self.database = database
        self.logger = logger
    }

    /// The TLS doors. A device may show its certificate in the handshake, but need not (courier reference, "Transport").
    func listeners(_ environment: PushEnvironment, limits: GatewayConfiguration.Limits) throws -> EnvironmentListeners {
        var http2 = self.serverTLS
        http2.applicationProtocols = ["h2"]
        var courier = self.serverTLS
        courier.applicationProtocols = ["apns-security-v3"]
        courier.certificateVerification = .optionalVerification
        courier.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(self.deviceAuthorityPEM.utf8)))
        let name = environment.rawValue
        let listeners = EnvironmentListeners(
            http2: try Listener(name: "\(name) HTTP/2", tls: http2, limits: limits, logger: self.logger),
            courier: try Listener(name: "\(name) courier", tls: courier, limits: limits, logger: self.logger)
        )
        for (door, listener) in [("http2", listeners.http2), ("courier", listeners.courier)] {
            let labels = ["door": door, "environment": name]
            self.gauges.add(.connections, labels) { listener.connections }
            self.gauges.add(.connectionsLimit, labels) { listener.maximumConnections }
        }
        return listeners
    }

    /// Removes what is too old. Called from time to time.
    func tick(now: Timestamp) async throws {
        for environment in self.environments { environment.router.tick() }
        try await self.events.trim(now: now)
    }

    func close() async throws {
        for environment in self.environments { try await environment.router.end() }
        try await self.events.end()
        try self.database.close()
        self.directory.close()
    }
}

/// The TLS doors of one environment.
struct EnvironmentListeners: Sendable {
    let http2: Listener
    let courier: Listener

    func bind(_ core: EnvironmentCore, _ doors: GatewayConfiguration.Doors) async throws -> GatewayAddresses.Doors {
        GatewayAddresses.Doors(
            http2: try await self.http2.bind(doors.http2, initialize: core.providerDoor.initialize),
            courier: try await self.courier.bind(doors.courier, initialize: core.courierDoor.initialize),
            binary: 0,
            feedback: 0
        )
    }

    func close() async {
        await self.http2.close(draining: true)
        await self.courier.close(draining: false)
    }
}

/// Forgets feedback.
struct NoFeedback: FeedbackSink {
    func add(_ token: DeviceToken, topic: Topic, in environment: PushEnvironment, since: Timestamp) {}
}
