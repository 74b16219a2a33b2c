/// The user's decisions about notifications on this device.
public struct NotificationPreferences: Hashable, Sendable {
    /// The maximum number of categories in ``optOuts``. ``Martlet/setPreferences(_:)`` refuses more.
    static let maximumCategories = 100
    static let maximumCategory = 64

    /// The consent categories whose notifications the user does not want. All other categories are wanted.
    public var optOuts: Set<String>
    /// The hours in which only urgent notifications are delivered, or `nil` for no quiet hours.
    public var quietHours: QuietHours?

    public init(optOuts: Set<String> = [], quietHours: QuietHours? = nil) {
        (self.optOuts, self.quietHours) = (optOuts, quietHours)
    }

    /// A period of each day, in the time zone of the device. It may extend past midnight.
    public struct QuietHours: Hashable, Sendable {
        /// The times of day at which the period begins and ends, such as `22:00`.
        public let from: String
        public let to: String

        /// Creates quiet hours from two different times of day such as `07:30`. Returns `nil` for other strings.
        public init?(from: String, to: String) {
            guard Self.isTime(from), Self.isTime(to), from != to else { return nil }
            (self.from, self.to) = (from, to)
        }

        private static func isTime(_ text: String) -> Bool {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
            guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy(digits.contains) })
            else { return false }
            guard let hour = UInt8(parts[0]), let minute = UInt8(parts[1]) else { return false }
            return hour < 24 && minute < 60
        }
    }

    var json: JSONValue {
        var members: [String: JSONValue] = ["optOuts": .array(self.optOuts.sorted().map { .string($0) })]
        members["quietHours"] = self.quietHours.map { .object(["from": .string($0.from), "to": .string($0.to)]) }
        return .object(members)
    }

    init(_ json: JSONValue?) {
        let hours = json?.object?["quietHours"]?.object
        self.init(
            optOuts: Set((json?.object?["optOuts"]?.array ?? []).compactMap(\.string)),
            quietHours: (hours?["from"]?.string).flatMap { from in
                (hours?["to"]?.string).flatMap { QuietHours(from: from, to: $0) }
            }
        )
    }
}
