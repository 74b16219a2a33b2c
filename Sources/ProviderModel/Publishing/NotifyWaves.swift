package import PushSupport

/// The waves in which devices are notified of an issue, and the limits on downloads beyond which a wave waits.
package struct NotifyWaves: Hashable, Sendable {
    /// The number of devices in a wave. Default 10,000.
    package var size = 10_000
    /// The time between two waves, in seconds. Default 300.
    package var interval = 300
    /// The bandwidth of downloads beyond which the next wave waits, in bytes per second, or `nil` for no limit.
    package var maximumBandwidth: Int?
    /// The number of open downloads of the app beyond which the next wave waits, or `nil` for no limit.
    package var maximumDownloads: Int?

    package init() {}
}

/// The member `waves` of a publication in requests and responses.
package enum NotifyWavesSetting {
    private static let bandwidth = SteeringLimits.bandwidth.clearable
    private static let downloads = SteeringLimits.downloads.clearable
    private static let steering = Member.object(
        "steering",
        RequestObject(optional: [Self.bandwidth, Self.downloads]) { $0.named("Steering").orNull }
    ).described("null removes both limits.")

    package static let member = Member.object(
        "waves",
        RequestObject(optional: [PaceSettings.size, PaceSettings.interval, Self.steering]) { $0.named("NotifyWaves") }
    )

    /// Reads the changes to the waves that a request names.
    static func read(_ fields: JSONFields, into changes: inout PublicationChanges) throws(RequestError) {
        guard let waves = try fields.value(Self.member) else { return }
        changes.waveSize = try waves.value(PaceSettings.size).map(Int.init)
        changes.waveInterval = try waves.value(PaceSettings.interval).map(Int.init)
        if waves.nulls.contains("steering") { (changes.maximumBandwidth, changes.maximumDownloads) = (.clear, .clear) }
        guard let steering = try waves.value(Self.steering) else { return }
        changes.maximumBandwidth = try steering.value(Self.bandwidth).map { $0.map { Int($0) } }
        changes.maximumDownloads = try steering.value(Self.downloads).map { $0.map { Int($0) } }
    }

    package static func json(_ waves: NotifyWaves) -> JSONValue {
        var members: [String: JSONValue] = [
            "size": .integer(Int64(waves.size)), "intervalSeconds": .integer(Int64(waves.interval)),
        ]
        let limits = SteeringLimits(maximumBandwidth: waves.maximumBandwidth, maximumDownloads: waves.maximumDownloads)
        members["steering"] = limits?.json
        return .object(members)
    }
}
