package import PushSupport

/// The pace of a notification: the member `pace` of a request.
package enum PaceSettings: Hashable, StoredJSON {
    /// A fixed rate, in recipients per second.
    case rate(Int)
    /// Waves of `size` recipients. A wave starts `interval` seconds after the one before, and not before the app's
    /// downloads are below the limits of `steering`, or `nil` for no such limits.
    case waves(size: Int, interval: Int, steering: SteeringLimits? = nil)

    package static let maximumRate: Int64 = 1_000_000
    package static let maximumWave: Int64 = 100_000_000
    /// The maximum time between two waves, in seconds: a week.
    package static let maximumInterval: Int64 = 7 * 86_400

    /// The members for the number of recipients in a wave and for the seconds between two waves.
    package static let size = Member.integer("size", 1...Self.maximumWave)
    package static let interval = Member.integer("intervalSeconds", 1...Self.maximumInterval)

    private enum Members {
        static let rate = Member.integer("rate", 1...PaceSettings.maximumRate).described("Recipients per second.")
        static let waves = Member.object(
            "waves",
            RequestObject(required: [PaceSettings.size, PaceSettings.interval], optional: [SteeringLimits.member])
        )
    }

    package static let object = RequestObject(optional: [Members.rate, Members.waves]) {
        $0.requiringOne(of: "rate", "waves").named("Pace")
    }

    /// The member `pace` of a request: `{"rate":500}` or `{"waves":{"size":10000,"intervalSeconds":300}}`.
    package static let member = Member.object("pace", Self.object) { (fields) throws(RequestError) -> PaceSettings in
        try PaceSettings(fields)
    }

    package init(_ fields: JSONFields) throws(RequestError) {
        let (rate, waves) = (try fields.value(Members.rate), try fields.value(Members.waves))
        switch (rate, waves) {
        case (let rate?, nil): self = .rate(Int(rate))
        case (nil, let waves?):
            let size = try waves.required(Self.size, "the number of recipients of a wave is required")
            let interval = try waves.required(Self.interval, "the seconds between two waves are required")
            self = .waves(size: Int(size), interval: Int(interval), steering: try SteeringLimits(waves))
        case (nil, nil): throw fields.error("rate", "missing_field", "give rate or waves")
        default: throw fields.error("waves", "conflicting_field", "give rate or waves, not both")
        }
    }

    package var json: JSONValue {
        switch self {
        case .rate(let rate): .object(["rate": .integer(Int64(rate))])
        case .waves(let size, let interval, let steering):
            .object([
                "waves": .object(
                    [
                        "size": .integer(Int64(size)), "intervalSeconds": .integer(Int64(interval)),
                        "steering": steering?.json,
                    ].compactMapValues(\.self)
                )
            ])
        }
    }
}

/// The limits of an app's downloads. While one is exceeded, the next wave of a notification waits. At least one is set.
package struct SteeringLimits: Hashable, Sendable {
    /// The bandwidth of downloads above which the next wave waits, in bytes per second, or `nil` for no limit.
    package let maximumBandwidth: Int?
    package let maximumDownloads: Int?

    /// The members for the limits. `null` stands for no limit.
    package static let bandwidth = Member.integer("maximumBandwidth", 1...1_000_000_000_000)
        .described("Bytes per second of the app's downloads beyond which the next wave waits.")
    package static let downloads = Member.integer("maximumDownloads", 1...1_000_000)
        .described("Open downloads of the app beyond which the next wave waits.")

    fileprivate static let member = Member.object(
        "steering",
        RequestObject(optional: [Self.bandwidth, Self.downloads]) {
            $0.requiringOne(of: "maximumBandwidth", "maximumDownloads")
        }
    )

    /// Creates the limits, or returns `nil` if both are `nil`.
    package init?(maximumBandwidth: Int?, maximumDownloads: Int?) {
        guard maximumBandwidth != nil || maximumDownloads != nil else { return nil }
        (self.maximumBandwidth, self.maximumDownloads) = (maximumBandwidth, maximumDownloads)
    }

    /// Reads the member `steering` of the object `waves`, or returns `nil` if it is absent.
    fileprivate init?(_ waves: JSONFields) throws(RequestError) {
        guard let fields = try waves.value(Self.member) else { return nil }
        let (bandwidth, downloads) = (try fields.value(Self.bandwidth), try fields.value(Self.downloads))
        guard bandwidth != nil || downloads != nil else {
            throw fields.error(
                "maximumBandwidth",
                "missing_field",
                "give maximumBandwidth or maximumDownloads, or both"
            )
        }
        self.init(maximumBandwidth: bandwidth.map(Int.init), maximumDownloads: downloads.map(Int.init))
    }

    package var json: JSONValue {
        let limits = ["maximumBandwidth": self.maximumBandwidth, "maximumDownloads": self.maximumDownloads]
        return .object(limits.compactMapValues { $0.map { JSONValue.integer(Int64($0)) } })
    }
}
