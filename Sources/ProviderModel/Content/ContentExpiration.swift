import PushSupport
import PushTypes

/// The expiration of a request: a time (`expiration`), or a duration from each recipient's start (`expiresIn`).
struct ContentExpiration: Hashable, Sendable {
    /// The maximum number of seconds of `expiresIn`: the push service stores nothing longer (APNs reference 7.1).
    private static let maximumSeconds = Expiration.longestStorage.components.seconds

    /// The member `expiration`: a time as 0, UNIX seconds, or RFC 3339 text.
    static let absolute = RequestMember<Expiration>(
        "expiration",
        .any(of: [.integer(0...0), .integer(Self.times), .rfc3339])
            .described("RFC 3339 or UNIX seconds; 0 for one attempt without storage.")
    ) { (fields, name) throws(RequestError) in try Self.time(fields, name) }

    /// The member `expiresIn`: a length of time in seconds, or as a text such as `90s`, `30m`, `6h` or `2d`.
    static let relative = RequestMember<Int64>(
        "expiresIn",
        .any(of: [.integer(1...Self.maximumSeconds), DurationText.schema])
            .described("From each recipient's start: seconds, or a text such as 6h.")
    ) { (fields, name) throws(RequestError) in try Self.length(fields, name) }

    static let object = RequestObject(optional: [Self.absolute, Self.relative])

    /// The expiration that is a time, or ``Expiration/servicePolicy`` if ``seconds`` is set.
    var expiration = Expiration.servicePolicy
    /// The number of seconds from the start of sending to each recipient, or `nil` if ``expiration`` applies.
    var seconds: Int64?

    /// Reads the expiration, or takes the push service's default if the request names none.
    /// - Throws: ``RequestError`` that names the member at fault, for example if both members are given.
    init(_ fields: JSONFields) throws(RequestError) {
        self.seconds = try fields.value(Self.relative)
        self.expiration = try fields.value(Self.absolute) ?? .servicePolicy
        guard self.seconds == nil || fields.members["expiration"] == nil else {
            throw fields.error("expiresIn", "conflicting_field", "give expiration or expiresIn, not both")
        }
    }

    private static func length(_ fields: JSONFields, _ name: String) throws(RequestError) -> Int64? {
        let seconds: Int64?
        switch fields.members[name] {
        case nil: return nil
        case .integer(let value): seconds = value
        case .string(let text): seconds = DurationText.seconds(text)
        default: throw fields.wrongType(name, "seconds, or a text such as 6h")
        }
        guard let seconds, (1...Self.maximumSeconds).contains(seconds) else {
            let message = "use 1 to \(Self.maximumSeconds) seconds, or a text such as 90s, 30m, 6h or 30d"
            let hint = seconds == 0 ? "; for one attempt without storage give expiration 0" : ""
            throw fields.error(name, "invalid_expiration", message + hint)
        }
        return seconds
    }

    /// The numbers that are accepted as times, in seconds since 1970. A smaller number, such as 2,592,000 for thirty
    /// days, is probably meant as a duration.
    private static let times: ClosedRange<Int64> = 1_000_000_001...4_102_444_800

    private static func time(_ fields: JSONFields, _ name: String) throws(RequestError) -> Expiration? {
        switch fields.members[name] {
        case nil: return nil
        case .integer(0): return .immediate
        case .string:
            guard let time = try fields.timestamp(name) else { return nil }
            guard time.seconds > 0 else { throw fields.error(name, "past_time", "\(time.rfc3339) has passed") }
            return .at(seconds: time.seconds)
        default:
            guard let seconds = try fields.integer(name, in: Int64.min...Int64.max) else { return nil }
            guard seconds < JSONFields.firstMilliseconds else {
                let message = "these are milliseconds: give seconds or RFC 3339"
                throw fields.error(name, "invalid_expiration", message)
            }
            guard Self.times.contains(seconds) else {
                let message = "it is a time, in RFC 3339 or UNIX seconds; for a length of time use expiresIn"
                throw fields.error(name, "invalid_expiration", message)
            }
            return .at(seconds: seconds)
        }
    }
}

extension NotificationContent {
    /// Throws an error for an expiration time that has passed.
    func checkExpiration(_ fields: JSONFields, now: Timestamp) throws(RequestError) {
        guard case .at(let seconds) = self.expiration, Timestamp(seconds: seconds) <= now else { return }
        let time = Timestamp(seconds: seconds).rfc3339
        throw fields.error("expiration", "past_time", "\(time) has passed: nothing could be delivered")
    }
}
