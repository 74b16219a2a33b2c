import GRDB
import PushHTTP
import PushTypes

/// The numbers of everything that stands behind the doors.
struct CoreGauges {
    let database: any DatabaseReader
    let commit: GroupCommit
    let devices: DeviceRegistry
    let events: EventLog
    let authenticator: DeviceAuthenticator

    func add(to source: GaugeRegistry, environments: [EnvironmentCore]) {
        let (commit, devices, events) = (self.commit, self.devices, self.events)
        let served = environments.map { Optional($0.environment) }
        source.add(.events) {
            events.counts().filter { served.contains($0.environment) || $0.count > 0 }.map { count in
                var labels = ["event": count.name.code]
                labels["environment"] = count.environment?.rawValue
                return GaugeRegistry.Sample(labels: labels, value: count.count)
            }
        }
        source.add(.devices) { devices.count }
        for core in environments { self.add(core, to: source) }
        if let limits = environments.first?.router.limits {
            source.add(.unacknowledgedLimit) { limits.unacknowledged }
            source.add(.unacknowledgedBytesLimit) { limits.totalBytes }
            source.add(.subscriptionsLimit) { limits.channels }
        }
        source.add(.commits) { commit.commits }
        source.add(.commitBacklog) { commit.waiting }
        source.add(.eventsStored) { try await events.stored() }
        source.add(.eventsStoredLimit) { events.limits.events }
        source.add(.eventBacklog) { events.backlog.waiting }
        source.add(.eventBacklogLimit) { EventLog.maximumUnwritten }
        source.add(.eventsDropped) { events.backlog.dropped }
        source.add(.eventWatchers) { events.stream.count }
        source.add(.eventWatchersLimit) { EventStream.maximumWatchers }
        source.add(.nonces) { [authenticator] in authenticator.nonceCount }
        source.add(.noncesLimit) { NonceCache.capacity }
        source.add(.tokenKeys) { Int(devices.mint.currentKeyID) }
        source.add(.tokenKeysLimit) { TokenMinter.maximumKeys }
        source.add(.memory) { ProcessMemory.resident.map { [GaugeRegistry.Sample(value: $0)] } ?? [] }
    }

    private func add(_ core: EnvironmentCore, to source: GaugeRegistry) {
        let labels = ["environment": core.environment.rawValue]
        let (router, database, environment) = (core.router, self.database, core.environment)
        source.add(.devicesOnline, labels) { router.load.sessions }
        source.add(.unacknowledged, labels) { router.load.unacknowledged }
        source.add(.unacknowledgedBytes, labels) { router.load.bytes }
        source.add(.storedMessages, labels) { try await core.storedMessages() }
        for (metric, table) in [
            (Metric.subscriptions, "subscription"), (.channels, "channel"), (.feedback, "feedback"),
        ] {
            source.add(metric, labels) {
                try await database.read { database in
                    try Int.fetchOne(
                        database,
                        sql: "SELECT count(*) FROM \(table) WHERE environment = ?",
                        arguments: [environment.rawValue]
                    ) ?? 0
                }
            }
        }
    }
}
