import Foundation
import Logging
import PushHTTP
import PushSupport
import PushTypes

/// The parts of a gateway behind its listeners, made from its data directory.
final class GatewayCore: Sendable {
    let authorities: Authorities
    let environments: [EnvironmentCore]
    let admin: AdminServer
    let faults: FaultPlan
    let openListeners = OpenListeners()
    /// The unauthenticated connections of all listeners, including the admin API.
    let unauthenticated: UnauthenticatedConnections
    /// The gauges at `/metrics`; listeners add theirs.
    let gauges = GaugeRegistry()
    private let events: EventLog
    private let database: GatewayDatabase
    /// Keeps the lock of the data directory until the end of ``close()``.
    private let directory: SharedDataDirectory

    init(configuration: GatewayConfiguration, time: any TimeSource, logger: Logger) throws {
        self.unauthenticated = UnauthenticatedConnections(limits: configuration.limits.unauthenticated, logger: logger)
        let directory = try DataDirectory(configuration.dataDirectory)
        let authorities = try Authorities(
            names: configuration.serverNames,
            serverKey: configuration.serverKey,
            in: directory,
            now: time.now.date
        )
        let database = try GatewayDatabase(path: directory.file(GatewayDatabase.file))
        let events = try EventLog(database: database, limits: .init(configuration.limits), logger: logger)
        let devices = try DeviceRegistry(
            database: database,
            minter: TokenMinter(keys: try TokenKeyFiles.load(from: directory)),
            events: events,
            time: time
        )
        let shared = SharedCore(
            database: database,
            providers: try ProviderRegistry(database: database),
            providerAuthority: ProviderAuthority(authority: authorities.providers),
            channels: try ChannelRegistry(database: database),
            devices: devices,
            faults: try FaultPlan(starting: try configuration.faultRules(), now: time.now),
            events: events,
            feedback: FeedbackRecorder(database: database, logger: logger),
            authenticator: DeviceAuthenticator(authority: authorities.devices, devices: devices),
            sequences: MessageSequence(last: try database.read { try $0.lastSequence() }),
            time: time,
            logger: logger
        )
        self.environments = configuration.listeners.keys.sorted { $0.rawValue > $1.rawValue }
            .map { EnvironmentCore($0, shared: shared, configuration: configuration) }
        self.events = events
        self.authorities = authorities
        self.faults = shared.faults
        self.directory = SharedDataDirectory(directory)
        self.admin = AdminServer(
            controllers: try Self.controllers(
                shared,
                self.environments,
                authorities,
                self.directory,
                self.openListeners,
                configuration
            ),
            gauges: self.gauges,
            unauthenticated: self.unauthenticated,
            authorityPEM: try authorities.gateway.pem,
            logger: logger
        )
        CoreGauges(
            database: database,
            devices: devices,
            events: events,
            authenticator: shared.authenticator
        ).add(to: self.gauges, environments: self.environments)
        self.database = database
    }

    private static func controllers(
        _ shared: SharedCore,
        _ environments: [EnvironmentCore],
        _ authorities: Authorities,
        _ directory: SharedDataDirectory,
        _ openListeners: OpenListeners,
        _ configuration: GatewayConfiguration
    ) throws -> [any Controller<Never>] {
        let (providers, channels, devices, time) = (shared.providers, shared.channels, shared.devices, shared.time)
        let activation = DeviceActivation(
            authority: authorities.devices,
            deviceAuthorityPEM: try authorities.devices.pem,
            authorityPEM: try authorities.gateway.pem
        )
        return [
            StatusController(
                listeners: openListeners,
                configuration: configuration,
                devices: devices,
                environments: environments,
                events: shared.events
            ),
            AppsController(
                registry: providers,
                channels: channels,
                environments: environments,
                allowsBroadcastByDefault: configuration.rules.allowsBroadcastByDefault
            ),
            KeysController(registry: providers, time: time),
            CertificatesController(registry: providers, authority: shared.providerAuthority, time: time),
            DevicesController(devices: devices, environments: environments),
            DeviceChangesController(devices: devices, environments: environments, activation: activation, time: time),
            TokenKeysController(mint: devices.minter, directory: directory),
            EventsController(events: shared.events, devices: devices, environments: environments),
            FaultsController(plan: shared.faults, time: time),
            ChannelsController(registry: providers, channels: channels, environments: environments, time: time),
            FeedbackController(feedback: shared.feedback),
        ]
    }

    /// Removes expired messages and old events. Called from time to time.
    func tick(now: Timestamp) async throws {
        for environment in self.environments {
            environment.router.tick()
            environment.providerListener.rejectionLog.flush()
        }
        try await self.events.trim(now: now)
    }

    /// Writes all that is in memory and closes the database, after the listeners were closed.
    func close() async throws {
        for environment in self.environments { try await environment.router.end() }
        try await self.events.end()
        try self.database.close()
        self.directory.close()
    }
}
