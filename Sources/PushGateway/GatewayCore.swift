import Logging
import PushHTTP
import PushSupport
import PushTypes

/// The components of a gateway behind its listeners. They are created from its data directory.
final class GatewayCore: Sendable {
    let configuration: GatewayConfiguration
    let authorities: Authorities
    let shared: SharedCore
    let environments: [EnvironmentCore]
    let openListeners = OpenListeners()
    let adminConnections = AdminConnections()
    /// The budget of unauthenticated connections, which all listeners share, including the admin API.
    let unauthenticated: UnauthenticatedConnectionBudget
    let gauges = GaugeRegistry()
    /// The data directory, which is locked until ``close()`` has finished.
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

    /// Removes expired messages and old events, delivers held messages, and logs rejection counts. This method is
    /// called at intervals.
    func tick(now: Timestamp) async throws {
        for environment in self.environments {
            environment.router.tick()
            environment.providerListener.rejectionLog.flush()
        }
        try await self.shared.services.events.trim(now: now)
    }

    /// Writes all pending changes and closes the database. This method must be called after the listeners have been
    /// closed.
    func close() async throws {
        for environment in self.environments { try await environment.router.end() }
        try await self.shared.services.events.end()
        try await self.shared.services.database.close()
        self.directory.close()
    }
}

struct GatewayGauges {
    let registry: GaugeRegistry
    var labels: [String: String] = [:]

    /// Adds a metric, or another sample of a metric that exists with different labels.
    func add(
        _ name: String,
        _ help: String,
        _ kind: GaugeRegistry.Kind = .gauge,
        value: @escaping @Sendable () async throws -> Int
    ) {
        self.registry.add("martlet_gateway_\(name)", help, kind, labels: self.labels, value: value)
    }

    func addConnections(limit: Int, value: @escaping @Sendable () -> Int) {
        self.add("connections", "Open connections of a listener.") { value() }
        self.add("connections_limit", "Most open connections of a listener.") { limit }
    }
}

extension GatewayCore {
    private func addGauges() {
        let admin = GatewayGauges(registry: self.gauges, labels: ["listener": "admin"])
        admin.addConnections(limit: AdminConnections.maximum) { [adminConnections] in adminConnections.count }
        let gauges = GatewayGauges(registry: self.gauges)
        let (unauthenticated, limits) = (self.unauthenticated, self.unauthenticated.limits)
        gauges.add(
            "unauthenticated_connections",
            "Open connections without a valid credential, over all listeners."
        ) { unauthenticated.count }
        gauges.add("unauthenticated_connections_limit", "Most connections without a valid credential.") {
            limits.connections
        }
        gauges.add("unauthenticated_bytes", "Bytes that unauthenticated connections hold together.") {
            unauthenticated.bytes
        }
        gauges.add("unauthenticated_bytes_limit", "Most bytes that unauthenticated connections may hold together.") {
            limits.bytes
        }
        self.addEventCounters()
        let (database, devices) = (self.shared.services.database, self.shared.services.devices)
        gauges.add("devices", "Devices that are activated and not deleted.") { devices.count }
        for core in self.environments { self.addGauges(of: core) }
        if let limits = self.environments.first?.router.limits {
            gauges.add("unacknowledged_limit", "Most messages that one device may leave unacknowledged.") {
                limits.unacknowledged
            }
            gauges.add(
                "unacknowledged_bytes_limit",
                "Most bytes of unacknowledged messages in an environment; pushes beyond that are answered 429."
            ) { limits.totalBytes }
            gauges.add("subscriptions_limit", "Most channels of one device.") { limits.channels }
        }
        gauges.add("commits_total", "Transactions of grouped writes.", .counter) { database.commits }
        gauges.add("commit_backlog", "Writes that wait for a transaction.") { database.commitBacklog }
        self.addEventGauges(gauges)
        let authenticator = self.shared.authenticator
        gauges.add("nonces", "Nonces of devices that are remembered to reject their repetition.") {
            authenticator.nonceCount
        }
        gauges.add("nonces_of_device_limit", "Most nonces that are remembered of one device.") { NonceCache.maximum }
        gauges.add("token_keys", "Keys that seal or have sealed device tokens.") { Int(devices.minter.currentKeyID) }
        gauges.add("token_keys_limit", "Most token keys.") { TokenMinter.maximumKeys }
        self.gauges.addProcess()
    }

    private func addEventCounters() {
        let (events, served) = (self.shared.services.events, self.environments.map { Optional($0.environment) })
        self.gauges.add(
            "martlet_gateway_events_total",
            "Events of notifications and devices, by event and environment.",
            .counter
        ) {
            events.counts().filter { served.contains($0.environment) || $0.count > 0 }.map { count in
                var labels = ["event": count.name.code]
                labels["environment"] = count.environment?.rawValue
                return GaugeRegistry.Sample(labels: labels, value: count.count)
            }
        }
    }

    private func addEventGauges(_ gauges: GatewayGauges) {
        let (events, dropped) = (self.shared.services.events, "Events that were dropped because the disk was too slow.")
        gauges.add("events_stored", "Events on disk.") { try await events.stored() }
        gauges.add("events_stored_limit", "Most events on disk.") { events.limits.events }
        gauges.add("event_backlog", "Events that are not on disk yet.") { events.backlog.waiting }
        gauges.add("event_backlog_limit", "Most events that wait for the disk; more are dropped.") {
            EventLog.maximumUnwritten
        }
        gauges.add("events_dropped_total", dropped, .counter) { events.backlog.dropped }
        gauges.add("event_watchers", "Open event streams.") { events.stream.count }
        gauges.add("event_watchers_limit", "Most open event streams.") { EventStream.maximumWatchers }
    }

    private func addGauges(of core: EnvironmentCore) {
        let gauges = GatewayGauges(registry: self.gauges, labels: ["environment": core.environment.rawValue])
        let router = core.router
        gauges.add("devices_online", "Connected devices.") { router.load.sessions }
        gauges.add("unacknowledged", "Messages sent to devices that have not acknowledged them.") {
            router.load.unacknowledged
        }
        gauges.add("unacknowledged_bytes", "Bytes of the unacknowledged messages, about.") { router.load.bytes }
        gauges.add("stored_messages", "Messages that wait for their device.") { try await core.count(.message) }
        gauges.add("subscriptions", "Channels followed, summed over all devices.") {
            try await core.count(.subscription)
        }
        gauges.add("channels", "Broadcast channels.") { try await core.count(.channel) }
        gauges.add("feedback", "Tokens in the feedback lists that no provider has read.") {
            try await core.count(.feedback)
        }
    }
}
