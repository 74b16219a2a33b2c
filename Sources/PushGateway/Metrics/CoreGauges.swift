import PushHTTP
import PushTypes

/// The gauges of the parts behind the listeners.
struct CoreGauges {
    let database: GatewayDatabase
    let devices: DeviceRegistry
    let events: EventLog
    let authenticator: DeviceAuthenticator

    func add(to gauges: GaugeRegistry, environments: [EnvironmentCore]) {
        let (database, devices, events) = (self.database, self.devices, self.events)
        let served = environments.map { Optional($0.environment) }
        gauges.add(
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
        gauges.add("martlet_gateway_devices", "Devices that are activated and not deleted.") { devices.count }
        for core in environments { self.add(core, to: gauges) }
        if let limits = environments.first?.router.limits {
            gauges.add(
                "martlet_gateway_unacknowledged_limit",
                "Most messages that one device may leave unacknowledged."
            ) { limits.unacknowledged }
            gauges.add(
                "martlet_gateway_unacknowledged_bytes_limit",
                "Most bytes of unacknowledged messages in an environment; pushes beyond that are answered 429."
            ) { limits.totalBytes }
            gauges.add("martlet_gateway_subscriptions_limit", "Most channels of one device.") { limits.channels }
        }
        gauges.add("martlet_gateway_commits_total", "Transactions of grouped writes.", .counter) { database.commits }
        gauges.add("martlet_gateway_commit_backlog", "Writes that wait for a transaction.") { database.commitBacklog }
        gauges.add("martlet_gateway_events_stored", "Events on disk.") { try await events.stored() }
        gauges.add("martlet_gateway_events_stored_limit", "Most events on disk.") { events.limits.events }
        gauges.add("martlet_gateway_event_backlog", "Events that are not on disk yet.") { events.backlog.waiting }
        gauges.add(
            "martlet_gateway_event_backlog_limit",
            "Most events that wait for the disk; more are dropped."
        ) { EventLog.maximumUnwritten }
        gauges.add(
            "martlet_gateway_events_dropped_total",
            "Events that were dropped because the disk was too slow.",
            .counter
        ) { events.backlog.dropped }
        gauges.add("martlet_gateway_event_watchers", "Open event streams.") { events.stream.count }
        gauges.add("martlet_gateway_event_watchers_limit", "Most open event streams.") { EventStream.maximumWatchers }
        gauges.add(
            "martlet_gateway_nonces",
            "Nonces of devices that are remembered to reject their repetition."
        ) { [authenticator] in authenticator.nonceCount }
        gauges.add("martlet_gateway_nonces_limit", "Most nonces that are remembered.") { NonceCache.capacity }
        gauges.add(
            "martlet_gateway_token_keys",
            "Keys that seal or have sealed device tokens."
        ) { Int(devices.minter.currentKeyID) }
        gauges.add("martlet_gateway_token_keys_limit", "Most token keys.") { TokenMinter.maximumKeys }
        gauges.add(
            "process_resident_memory_bytes",
            "Memory of the process that is not swapped out."
        ) { ProcessMemory.resident.map { [GaugeRegistry.Sample(value: $0)] } ?? [] }
    }

    private func add(_ core: EnvironmentCore, to gauges: GaugeRegistry) {
        let labels = ["environment": core.environment.rawValue]
        let router = core.router
        gauges.add("martlet_gateway_devices_online", "Connected devices.", labels: labels) { router.load.sessions }
        gauges.add(
            "martlet_gateway_unacknowledged",
            "Messages sent to devices that have not acknowledged them.",
            labels: labels
        ) { router.load.unacknowledged }
        gauges.add(
            "martlet_gateway_unacknowledged_bytes",
            "Bytes of the unacknowledged messages, about.",
            labels: labels
        ) { router.load.bytes }
        gauges.add(
            "martlet_gateway_stored_messages",
            "Messages that wait for their device.",
            labels: labels
        ) { try await core.storedMessages() }
        gauges.add(
            "martlet_gateway_subscriptions",
            "Channels followed, summed over all devices.",
            labels: labels
        ) { try await core.count(.subscription) }
        gauges.add("martlet_gateway_channels", "Broadcast channels.", labels: labels) { try await core.count(.channel) }
        gauges.add(
            "martlet_gateway_feedback",
            "Tokens in the feedback lists that no provider has read.",
            labels: labels
        ) { try await core.count(.feedback) }
    }
}
