import Foundation
import GRDB
import Logging
import NIOCore
import NIOSSL
import PushHTTP
import PushSupport
import PushTypes

/// What stands behind a gateway's doors, built from its data directory.
final class GatewayCore: Sendable {
    let authorities: Authorities
    let environments: [EnvironmentCore]
    let adminDoor: AdminServer
    let faults: FaultPlan
    let doors = OpenListeners()
    /// Of all listeners, the admin API's too.
    let unproven: UnauthenticatedConnections
    /// Where a door registers what it counts.
    let gauges = GaugeRegistry()
    private let events: EventLog
    private let database: DatabasePool
    /// Holds the lock on the folder until the end of ``close()``.
    private let directory: GatewayDirectory

    init(configuration: GatewayConfiguration, time: any TimeSource, logger: Logger) throws {
        self.unproven = UnauthenticatedConnections(limits: configuration.limits.unproven, logger: logger)
        let directory = try DataDirectory(configuration.dataDirectory)
        let now = Date(timeIntervalSince1970: Double(time.now.seconds))
        let authorities = try Authorities(
            names: configuration.serverNames,
            serverKey: configuration.serverKey,
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
            mint: TokenMinter(keys: try TokenKeys.load(from: directory)),
            events: events,
            time: time
        )
        let shared = SharedCore(
            database: database,
            commit: commit,
            providers: try ProviderRegistry(database: database),
            providerAuthority: ProviderAuthority(authority: authorities.providers),
            channels: try ChannelRegistry(database: database),
            devices: devices,
            faults: try FaultPlan(starting: try configuration.faultRules(), now: time.now),
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
        self.directory = GatewayDirectory(directory)
        let parts = try Self.adminParts(
            shared,
            self.environments,
            authorities,
            self.directory,
            self.doors,
            configuration
        )
        self.adminDoor = AdminServer(
            parts: parts,
            gauges: self.gauges,
            unproven: self.unproven,
            authorityPEM: try authorities.gateway.pem,
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
    }

    private static func adminParts(
        _ shared: SharedCore,
        _ environments: [EnvironmentCore],
        _ authorities: Authorities,
        _ directory: GatewayDirectory,
        _ doors: OpenListeners,
        _ configuration: GatewayConfiguration
    ) throws -> [any AdminRoutes] {
        let activation = DeviceActivation(
            authority: authorities.devices,
            deviceAuthorityPEM: try authorities.devices.pem,
            authorityPEM: try authorities.gateway.pem
        )
        return [
            StatusController(
                doors: doors,
                configuration: configuration,
                devices: shared.devices,
                environments: environments,
                events: shared.events
            ),
            AppsController(
                registry: shared.providers,
                channels: shared.channels,
                environments: environments,
                allowsBroadcastByDefault: configuration.rules.allowsBroadcastByDefault
            ),
            KeysController(registry: shared.providers, time: shared.time),
            CertificatesController(
                registry: shared.providers,
                authority: shared.providerAuthority,
                time: shared.time
            ),
            DevicesController(devices: shared.devices, environments: environments),
            DeviceChangesController(
                devices: shared.devices,
                environments: environments,
                activation: activation,
                time: shared.time
            ),
            TokenKeysController(mint: shared.devices.mint, directory: directory),
            EventsController(events: shared.events, devices: shared.devices, environments: environments),
            FaultsController(plan: shared.faults, time: shared.time),
            ChannelsController(
                registry: shared.providers,
                channels: shared.channels,
                environments: environments,
                time: shared.time
            ),
            FeedbackController(feedback: shared.feedback),
        ]
    }

    /// Removes what is too old. Called from time to time.
    func tick(now: Timestamp) async throws {
        for environment in self.environments {
            environment.router.tick()
            environment.providerDoor.refusals.flush()
        }
        try await self.events.trim(now: now)
    }

    func close() async throws {
        for environment in self.environments { try await environment.router.end() }
        try await self.events.end()
        try self.database.close()
        self.directory.close()
    }
}
