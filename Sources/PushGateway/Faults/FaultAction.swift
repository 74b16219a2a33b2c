import PushSupport
import PushTypes

/// The misbehaviour of a fault rule.
enum FaultAction: Hashable, Sendable {
    /// The response is late.
    case latency(FaultLatency)
    /// The request is rejected; `retryAfter` in seconds. The binary listener sends the status of reference 5.2.
    case reject(Reason, retryAfter: Int?)
    /// The stream is reset with this error code (RFC 9113 section 7).
    case reset(FaultErrorCode)
    case goAway(GoAway)
    /// There is neither a response nor an end.
    case stall(Stall)
    /// The gateway reads no faster from its peer, a provider or a device.
    case slow(bytesPerSecond: Int)
    /// A device's acknowledgement is ignored.
    case dropAcks
    /// The listener shows a certificate that expired yesterday.
    case expiredCertificate
    /// The stream limit, announced when the connection starts, or after `after` requests.
    case streamLimit(Int, after: Int)
    /// Feedback entries are sent with this delay.
    case feedbackDelay(Duration)
    /// The connection is closed without an error packet or GOAWAY.
    case close
    /// The connection of a device is closed after `after` messages.
    case dropDevice(after: Int)

    /// The content of a GOAWAY frame (RFC 9113 section 6.8).
    struct GoAway: Hashable, Sendable {
        /// The number of the request on the connection at which it is sent, from 1.
        var after: Int
        var code = FaultErrorCode.none
        /// The `reason` in the JSON of its debug data; `nil` for no debug data.
        var text: String?
        /// Indicates whether the current request still gets its response and the last stream id includes it. If not,
        /// this request and later ones are not processed.
        var finishesStreams = true
    }

    /// The extent of a stall.
    enum Stall: String, CaseIterable, Hashable, Sendable {
        /// This request only.
        case request
        /// The whole connection: nothing more is read, and there are no more responses.
        case connection
    }

    /// The point at which the fault is decided.
    var point: FaultPoint {
        switch self {
        case .latency, .reject, .reset, .goAway, .stall, .close: .request
        case .streamLimit(_, let after): after == 0 ? .connection : .request
        case .slow, .expiredCertificate: .connection
        case .dropAcks: .acknowledgement
        case .dropDevice: .delivery
        case .feedbackDelay: .feedback
        }
    }

    /// The listeners to which it applies.
    var listeners: Set<FaultListener> {
        switch self {
        case .latency, .reject, .stall, .close: [.http2, .binary]
        case .reset, .goAway, .streamLimit: [.http2]
        case .slow: [.http2, .binary, .deviceLink]
        case .expiredCertificate: Set(FaultListener.allCases)
        case .dropAcks, .dropDevice: [.deviceLink]
        case .feedbackDelay: [.feedback]
        }
    }

    /// Returns whether it applies to a connection that has reached `ordinal` (``FaultSubject/ordinal``).
    func isDue(at ordinal: Int) -> Bool {
        switch self {
        case .goAway(let goAway): ordinal >= goAway.after
        case .streamLimit(_, let after), .dropDevice(let after): ordinal >= after
        default: true
        }
    }
}

/// An error code of HTTP/2, by its name in RFC 9113 section 7 or by its number.
struct FaultErrorCode: Hashable, Sendable, CustomStringConvertible {
    static let none = Self(value: 0)

    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    let value: UInt32

    init(value: UInt32) { self.value = value }

    init?(_ text: String) {
        if let index = Self.names.firstIndex(of: text.uppercased()) {
            self.value = UInt32(index)
        } else if let value = UInt32(text) {
            self.value = value
        } else {
            return nil
        }
    }

    var description: String {
        Self.names.indices.contains(Int(self.value)) ? Self.names[Int(self.value)] : "\(self.value)"
    }
}

extension FaultAction {
    /// The members that name an action. A rule has exactly one of them.
    private static let names = [
        "latency", "reason", "reset", "goAway", "stall", "slow", "dropAcks", "expiredCertificate", "streamLimit",
        "feedbackDelay", "close", "dropDevice",
    ]
    /// The members that belong to one of ``names``.
    private static let details = [
        "retryAfter": "reason", "code": "goAway", "text": "goAway", "streams": "goAway", "after": "streamLimit",
    ]
    static let memberNames = Set(names).union(details.keys)

    private static let counts: ClosedRange<Int64> = 1...1_000_000_000
    private static let longestDelay: Duration = .seconds(30 * 86_400)

    init(_ fields: JSONFields) throws(RequestError) {
        let names = Self.names.filter { fields.members[$0] != nil }
        guard let name = names.first else {
            throw fields.error("latency", "missing_field", "use one of: \(Self.names.joined(separator: ", "))")
        }
        if let other = names.dropFirst().first {
            throw fields.error(other, "invalid_value", "a fault does one thing, and this one has \(name) already")
        }
        for (detail, owner) in Self.details where owner != name && fields.members[detail] != nil {
            throw fields.error(detail, "not_applicable", "this is only for \(owner)")
        }
        self = try Self.read(name, fields)
    }

    private static func read(_ name: String, _ fields: JSONFields) throws(RequestError) -> FaultAction {
        switch name {
        case "latency": return .latency(try self.latency(fields))
        case "reason": return try self.reason(fields)
        case "reset": return .reset(try self.code("reset", fields))
        case "goAway": return .goAway(try self.goAway(fields))
        case "stall": return .stall(try fields.choice("stall") ?? .request)
        case "slow": return .slow(bytesPerSecond: Int(try fields.integer("slow", in: self.counts) ?? 1))
        case "streamLimit":
            let limit = try fields.integer("streamLimit", in: 0...Int64(Int32.max)) ?? 0
            return .streamLimit(Int(limit), after: Int(try fields.integer("after", in: self.counts) ?? 0))
        case "feedbackDelay": return .feedbackDelay(try self.delay(fields))
        case "dropDevice": return .dropDevice(after: Int(try fields.integer("dropDevice", in: self.counts) ?? 1))
        default:
            guard fields.members[name] == .bool(true) else { throw fields.wrongType(name, "true") }
            switch name {
            case "dropAcks": return .dropAcks
            case "expiredCertificate": return .expiredCertificate
            default: return .close
            }
        }
    }

    private static func latency(_ fields: JSONFields) throws(RequestError) -> FaultLatency {
        let text = try fields.requiredString("latency", maximum: 256)
        guard let latency = FaultLatency(text) else {
            throw fields.error(
                "latency",
                "invalid_value",
                "use 50ms, 50ms..200ms, normal:100ms/20ms or p50:20ms/p95:80ms, up to 10m"
            )
        }
        return latency
    }

    private static func reason(_ fields: JSONFields) throws(RequestError) -> FaultAction {
        let text = try fields.requiredString("reason", maximum: 64)
        guard let reason = Reason(rawValue: text) else {
            throw fields.error("reason", "invalid_value", "use a reason of the provider API, like TooManyRequests")
        }
        return .reject(reason, retryAfter: try fields.integer("retryAfter", in: 0...86_400).map(Int.init))
    }

    private static func goAway(_ fields: JSONFields) throws(RequestError) -> GoAway {
        var goAway = GoAway(after: Int(try fields.integer("goAway", in: self.counts) ?? 1))
        if fields.members["code"] != nil { goAway.code = try self.code("code", fields) }
        goAway.text = try fields.string("text", maximum: 64)
        guard goAway.text?.utf8.allSatisfy(FaultText.isPlain) ?? true else {
            throw fields.error("text", "invalid_value", "use letters, digits, dots, hyphens and underscores")
        }
        goAway.finishesStreams = try fields.choice("streams").map { (streams: Streams) in streams == .finish } ?? true
        return goAway
    }

    private static func code(_ name: String, _ fields: JSONFields) throws(RequestError) -> FaultErrorCode {
        guard let code = FaultErrorCode(try fields.requiredString(name, maximum: 32)) else {
            throw fields.error(name, "invalid_value", "use an error code of HTTP/2, like REFUSED_STREAM")
        }
        return code
    }

    private static func delay(_ fields: JSONFields) throws(RequestError) -> Duration {
        let delay = FaultDuration.read(try fields.requiredString("feedbackDelay", maximum: 32))
        guard let delay, delay <= self.longestDelay else {
            throw fields.error("feedbackDelay", "invalid_value", "use a duration like 90s or 2h, up to 30d")
        }
        return delay
    }

    private enum Streams: String, CaseIterable {
        case finish, lose
    }

    /// The members in the order of the text form.
    var members: [(String, JSONValue)] {
        switch self {
        case .latency(let latency): [("latency", .string(latency.description))]
        case .reject(let reason, let retryAfter):
            [("reason", .string(reason.rawValue))] + (retryAfter.map { [("retryAfter", .integer(Int64($0)))] } ?? [])
        case .reset(let code): [("reset", .string(code.description))]
        case .goAway(let goAway):
            [("goAway", .integer(Int64(goAway.after))), ("code", .string(goAway.code.description))]
                + (goAway.text.map { [("text", .string($0))] } ?? [])
                + (goAway.finishesStreams ? [] : [("streams", .string(Streams.lose.rawValue))])
        case .stall(let stall): [("stall", .string(stall.rawValue))]
        case .slow(let bytesPerSecond): [("slow", .integer(Int64(bytesPerSecond)))]
        case .dropAcks: [("dropAcks", .bool(true))]
        case .expiredCertificate: [("expiredCertificate", .bool(true))]
        case .streamLimit(let limit, let after):
            [("streamLimit", .integer(Int64(limit)))] + (after > 0 ? [("after", .integer(Int64(after)))] : [])
        case .feedbackDelay(let delay): [("feedbackDelay", .string(FaultDuration.text(delay)))]
        case .close: [("close", .bool(true))]
        case .dropDevice(let after): [("dropDevice", .integer(Int64(after)))]
        }
    }
}
