import Foundation
import Logging
import PushHTTP
import PushSupport
import PushTypes

/// The parts of a gateway behind its listeners, made from its data directory.
final class GatewayCore: Sendable {
    let configuration: GatewayConfiguration
    let authorities: Authorities
    let shared: SharedCore
    let environments: [EnvironmentCore]
    let openListeners = OpenListeners()
    let adminConnections = AdminConnections()
    /// The unauthenticated connections of all listeners, including the admin API.
    let unauthenticated: UnauthenticatedConnectionBudget
    /// The gauges at `/metrics`; listeners add theirs.
    let gauges = GaugeRegistry()
    /// Keeps the lock of the data directory until the end of ``close()``.
    private let directory: SharedDataDirectory

    init(configuration: GatewayConfiguration, time: any TimeSource, logger: Logger) throws {
        let directory = try DataDirectory(configuration.dataDirectory)
        let authorities = try Authorities(
            names: configuration.serverNames,
            serverKey: configuration.serverKey,
            in: directory,
            now: time.now.date
        )
        let shared = try SharedCore(configuration, authorities, in: directory, time: time, logger: logger)
        (self.configuration, self.authorities, self.shared) = (configuration, authorities, shared)
        self.unauthenticated = UnauthenticatedConnectionBudget(
            limits: configuration.limits.unauthenticated,
            logger: logger
        )
        self.environments = configuration.listeners.keys.sorted { $0.rawValue > $1.rawValue }
            .map { EnvironmentCore($0, shared: shared, configuration: configuration) }
        self.directory = SharedDataDirectory(directory)
        self.addGauges()
    }

    /// Returns the server of the admin API.
    func adminServer() throws -> AdminServer {
        AdminServer(
            controllers: try self.controllers(),
            gauges: self.gauges,
            unauthenticated: self.unauthenticated,
            connections: self.adminConnections,
            authorityPEM: try self.authorities.gateway.pem,
            logger: self.shared.services.logger
        )
    }

    private func controllers() throws -> [any Controller<Never>] {
        let (providers, channels, environments) = (self.shared.providers, self.shared.channels, self.environments)
        let services = self.shared.services
        let (devices, events, time) = (services.devices, services.events, services.time)
        let activation = DeviceCertificateIssuer(
            authority: self.authorities.devices,
            deviceAuthorityPEM: try self.authorities.devices.pem,
            authorityPEM: try self.authorities.gateway.pem
        )
        return [
            AdminStatusController(
                configuration: self.configuration,
                services: services,
                environments: environments,
                openListeners: self.openListeners
            ),
            AdminAppsController(
                registry: providers,
                channels: channels,
                environments: environments,
                allowsBroadcastByDefault: self.configuration.rules.allowsBroadcastByDefault
            ),
            AdminKeysController(registry: providers, time: time),
            AdminCertificatesController(registry: providers, authority: self.shared.providerAuthority, time: time),
            AdminDevicesController(devices: devices, environments: environments),
            AdminDeviceChangesController(
                devices: devices,
                environments: environments,
                activation: activation,
                time: time
            ),
            AdminTokenKeysController(minter: devices.minter, directory: self.directory),
            AdminEventsController(events: events, devices: devices, environments: environments),
            AdminFaultsController(plan: services.faults, time: time),
            AdminChannelsController(registry: providers, channels: channels, environments: environments, time: time),
            AdminFeedbackController(feedback: self.shared.feedback),
        ]
    }

    /// Removes expired messages and old events. Called from time to time.
    func tick(now: Timestamp) async throws {
        for environment in self.environments {
            environment.router.tick()
            environment.providerListener.rejectionLog.flush()
        }
        try await self.shared.services.events.trim(now: now)
    }

    /// Writes all that is in memory and closes the database, after the listeners were closed.
    func close() async throws {
        for environment in self.environments { try await environment.router.end() }
        try await self.shared.services.events.end()
        try self.shared.services.database.close()
        self.directory.close()
    }
}
