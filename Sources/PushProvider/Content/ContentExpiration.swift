import PushStore
import PushSupport
import PushTypes

/// The expiration of a request: a time (`expiration`), or a length of time from each recipient's start (`expiresIn`).
struct ContentExpiration: Hashable, Sendable {
    static let members: Set<String> = ["expiration", "expiresIn"]

    /// The longest relative expiry: the push service stores nothing longer (reference 7.1).
    static let maximumSeconds = Expiration.longestStorage.components.seconds

    /// ``Expiration/servicePolicy`` where ``seconds`` counts.
    var expiration = Expiration.servicePolicy
    /// The seconds from each recipient's start; `nil` where ``expiration`` counts.
    var seconds: Int64?

    /// - Throws: ``RequestError`` that names the member at fault.
    init(_ fields: JSONFields) throws(RequestError) {
        self.seconds = try Self.relative(fields)
        self.expiration = try Self.absolute(fields)
        guard self.seconds == nil || fields.members["expiration"] == nil else {
            throw fields.error("expiresIn", "conflicting_field", "give expiration or expiresIn, not both")
        }
    }

    /// Reads `expiresIn`: seconds, or a text such as `90s`, `30m`, `6h` or `2d`.
    private static func relative(_ fields: JSONFields) throws(RequestError) -> Int64? {
        let seconds: Int64?
        switch fields.members["expiresIn"] {
        case nil: return nil
        case .integer(let value): seconds = value
        case .string(let text): seconds = DurationText.seconds(text)
        default: throw fields.wrongType("expiresIn", "seconds, or a text such as 6h")
        }
        guard let seconds, (1...Self.maximumSeconds).contains(seconds) else {
            let message = "use 1 to \(Self.maximumSeconds) seconds, or a text such as 90s, 30m, 6h or 30d"
            let hint = seconds == 0 ? "; for one attempt without storage give expiration 0" : ""
            throw fields.error("expiresIn", "invalid_expiration", message + hint)
        }
        return seconds
    }

    /// Reads `expiration`: 0, UNIX seconds, or RFC 3339 text.
    private static func absolute(_ fields: JSONFields) throws(RequestError) -> Expiration {
        switch fields.members["expiration"] {
        case nil: return .servicePolicy
        case .integer(0): return .immediate
        case .string:
            guard let time = try fields.timestamp("expiration") else { return .servicePolicy }
            guard time.seconds > 0
            else { throw fields.error("expiration", "past_time", "\(time.rfc3339) has passed") }
            return .at(seconds: time.seconds)
        default:
            guard let seconds = try fields.integer("expiration", in: Int64.min...Int64.max) else {
                return .servicePolicy
            }
            if seconds >= JSONFields.firstMilliseconds {
                throw fields.error(
                    "expiration",
                    "invalid_expiration",
                    "these are milliseconds: give seconds or RFC 3339"
                )
            }
            // Thirty days are 2,592,000 s: a smaller number is a duration by mistake, not a timestamp.
            guard (1_000_000_001...4_102_444_800).contains(seconds) else {
                let message = "it is a time, in RFC 3339 or UNIX seconds; for a length of time use expiresIn"
                throw fields.error("expiration", "invalid_expiration", message)
            }
            return .at(seconds: seconds)
        }
    }
}

extension NotificationContent {
    /// Rejects an expiration that has passed.
    func checkExpiration(_ fields: JSONFields, now: Timestamp) throws(RequestError) {
        guard case .at(let seconds) = self.expiration, Timestamp(seconds: seconds) <= now else { return }
        let time = Timestamp(seconds: seconds).rfc3339
        throw fields.error("expiration", "past_time", "\(time) has passed: nothing could be delivered")
    }
}
