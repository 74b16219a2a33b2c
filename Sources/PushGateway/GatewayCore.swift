import Foundation
import GRDB
import Logging
import NIOCore
import NIOSSL
import PushProtocol
import Synchronization

/// What stands behind a gateway's doors, built from its data directory.
final class GatewayCore: Sendable {
    let authorities: Authorities
    let environments: [EnvironmentCore]
    let adminDoor: AdminDoor
    let faults: FaultPlan
    private let events: EventLog
    private let database: DatabasePool
    /// Holds the lock on the folder until the end of ``close()``; what still lives after that cannot write any more.
    private let directory: Mutex<DataDirectory?>

    init(configuration: GatewayConfiguration, time: any TimeSource, logger: Logger) throws {
        let directory = try DataDirectory(configuration.dataDirectory)
        let now = Date(timeIntervalSince1970: Double(time.now.seconds))
        let authorities = try Authorities(names: configuration.serverNames, in: directory, now: now)
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
            events: events
        )
        let shared = SharedCore(
            commit: commit,
            providers: try ProviderRegistry(database: database),
            providerAuthority: ProviderAuthority(authority: authorities.providers),
            channels: try ChannelRegistry(database: database),
            devices: devices,
            faults: try FaultPlan(starting: configuration.faults, now: time.now),
            events: events,
            feedback: Feedback(database: database, commit: commit, logger: logger),
            authenticator: DeviceAuthenticator(authority: authorities.devices, devices: devices),
            sequences: MessageSequence(last: try database.read(MessageTable.lastSequence)),
            time: time,
            logger: logger
        )
        self.environments = configuration.doors.keys.sorted { $0.rawValue > $1.rawValue }
            .map { EnvironmentCore($0, shared: shared, configuration: configuration) }
        self.events = events
        self.authorities = authorities
        self.faults = shared.faults
        self.adminDoor = try Self.adminDoor(shared, self.environments, authorities, configuration)
        self.database = database
        self.directory = Mutex(directory)
    }

    private static func adminDoor(
        _ shared: SharedCore,
        _ environments: [EnvironmentCore],
        _ authorities: Authorities,
        _ configuration: GatewayConfiguration
    ) throws -> AdminDoor {
        AdminDoor(
            apps: AppsController(
                registry: shared.providers,
                channels: shared.channels,
                allowsBroadcastByDefault: configuration.rules.allowsBroadcastByDefault
            ),
            keys: KeysController(registry: shared.providers, time: shared.time),
            certificates: CertificatesController(
                registry: shared.providers,
                authority: shared.providerAuthority,
                time: shared.time
            ),
            devices: DevicesController(
                devices: shared.devices,
                environments: environments,
                activation: DeviceActivation(
                    authority: authorities.devices,
                    deviceAuthorityPEM: try authorities.devices.pem,
                    authorityPEM: try authorities.gateway.pem
                ),
                events: shared.events,
                time: shared.time
            ),
            faults: FaultsController(plan: shared.faults, time: shared.time),
            authorityPEM: try authorities.gateway.pem,
            logger: shared.logger
        )
    }

    /// Removes what is too old. Called from time to time.
    func tick(now: Timestamp) async throws {
        for environment in self.environments { environment.router.tick() }
        try await self.events.trim(now: now)
        FreeMemory.giveBack()
    }

    func close() async throws {
        for environment in self.environments { try await environment.router.end() }
        try await self.events.end()
        try self.database.close()
        self.directory.withLock { $0 = nil }
    }
}
