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
        gauges.add(.events) {
            events.counts().filter { served.contains($0.environment) || $0.count > 0 }.map { count in
                var labels = ["event": count.name.code]
                labels["environment"] = count.environment?.rawValue
                return GaugeRegistry.Sample(labels: labels, value: count.count)
            }
        }
        gauges.add(.devices) { devices.count }
        for core in environments { self.add(core, to: gauges) }
        if let limits = environments.first?.router.limits {
            gauges.add(.unacknowledgedLimit) { limits.unacknowledged }
            gauges.add(.unacknowledgedBytesLimit) { limits.totalBytes }
            gauges.add(.subscriptionsLimit) { limits.channels }
        }
        gauges.add(.commits) { database.commits }
        gauges.add(.commitBacklog) { database.commitBacklog }
        gauges.add(.eventsStored) { try await events.stored() }
        gauges.add(.eventsStoredLimit) { events.limits.events }
        gauges.add(.eventBacklog) { events.backlog.waiting }
        gauges.add(.eventBacklogLimit) { EventLog.maximumUnwritten }
        gauges.add(.eventsDropped) { events.backlog.dropped }
        gauges.add(.eventWatchers) { events.stream.count }
        gauges.add(.eventWatchersLimit) { EventStream.maximumWatchers }
        gauges.add(.nonces) { [authenticator] in authenticator.nonceCount }
        gauges.add(.noncesLimit) { NonceCache.capacity }
        gauges.add(.tokenKeys) { Int(devices.minter.currentKeyID) }
        gauges.add(.tokenKeysLimit) { TokenMinter.maximumKeys }
        gauges.add(.memory) { ProcessMemory.resident.map { [GaugeRegistry.Sample(value: $0)] } ?? [] }
    }

    private func add(_ core: EnvironmentCore, to gauges: GaugeRegistry) {
        let labels = ["environment": core.environment.rawValue]
        let router = core.router
        gauges.add(.devicesOnline, labels) { router.load.sessions }
        gauges.add(.unacknowledged, labels) { router.load.unacknowledged }
        gauges.add(.unacknowledgedBytes, labels) { router.load.bytes }
        gauges.add(.storedMessages, labels) { try await core.storedMessages() }
        gauges.add(.subscriptions, labels) { try await core.count(.subscription) }
        gauges.add(.channels, labels) { try await core.count(.channel) }
        gauges.add(.feedback, labels) { try await core.count(.feedback) }
    }
}
