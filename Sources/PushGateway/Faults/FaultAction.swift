import PushSupport
import PushTypes

/// The misbehaviour that a fault rule causes.
enum FaultAction: Hashable, Sendable {
    /// A fault that delays the response.
    case latency(FaultLatency)
    /// A fault that rejects the request, with a `retry-after` in seconds unless it is `nil`. The binary listener sends
    /// a status instead (APNs reference 5.2).
    case reject(Reason, retryAfter: Int?)
    /// A fault that resets the stream with this error code (RFC 9113 section 7).
    case reset(FaultErrorCode)
    case goAway(GoAway)
    /// A fault that withholds responses and leaves the connection open.
    case stall(Stall)
    /// A fault that limits the rate at which the gateway reads from its peer, a provider or a device.
    case slow(bytesPerSecond: Int)
    /// A fault that ignores a device's acknowledgement.
    case dropAcks
    /// A fault by which the listener presents a certificate that expired yesterday.
    case expiredCertificate
    /// A fault that announces a limit of concurrent streams after `after` requests, where 0 is the start of the
    /// connection.
    case streamLimit(Int, after: Int)
    /// A fault that delays the sending of feedback entries.
    case feedbackDelay(Duration)
    /// A fault that closes the connection without an error packet or GOAWAY.
    case close
    /// A fault that closes the connection of a device after `after` messages.
    case dropDevice(after: Int)

    struct GoAway: Hashable, Sendable {
        /// The number of the request on the connection, from 1, at which the frame is sent.
        var after: Int
        var code = FaultErrorCode.none
        /// The `reason` in the JSON debug data of the frame, or `nil` for no debug data.
        var text: String?
        /// A Boolean value that indicates whether the current request still receives its response and the last stream
        /// id includes it. If not, this request and later ones are not processed.
        var finishesStreams = true
    }

    /// The extent of a fault that withholds responses.
    enum Stall: String, CaseIterable, Hashable, Sendable {
        /// The stall of a single request, which receives no response.
        case request
        /// The stall of the whole connection: nothing more is read from it, and no more responses are sent.
        case connection
    }

    /// The point in the processing at which the gateway decides whether the action applies.
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

    /// Returns whether the action takes effect at the request or message with the number `ordinal` on its connection.
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
    enum Members {
        private static let counts: ClosedRange<Int64> = 1...1_000_000_000
        private static let longestDelay: Duration = .seconds(30 * 86_400)

        static let latency = Member.text("latency", 1...256).parsed(
            "invalid_value",
            "use 50ms, 50ms..200ms, normal:100ms/20ms or p50:20ms/p95:80ms, up to 10m"
        ) { FaultLatency($0) }
        static let reason = Member.choice(
            "reason",
            of: Reason.self,
            message: "use a reason of the provider API, like TooManyRequests"
        )
        static let reset = Self.code("reset")
        static let goAway = Member.integer("goAway", Self.counts)
        static let stall = Member.choice("stall", of: Stall.self)
        static let slow = Member.integer("slow", Self.counts)
        static let dropAcks = Self.onlyTrue("dropAcks")
        static let expiredCertificate = Self.onlyTrue("expiredCertificate")
        static let streamLimit = Member.integer("streamLimit", 0...Int64(Int32.max))
        static let feedbackDelay = Member.text("feedbackDelay", 1...32)
            .parsed("invalid_value", "use a duration like 90s or 2h, up to 30d") { text in
                FaultDuration.read(text).flatMap { $0 <= Self.longestDelay ? $0 : nil }
            }
        static let close = Self.onlyTrue("close")
        static let dropDevice = Member.integer("dropDevice", Self.counts)

        static let retryAfter = Member.integer("retryAfter", 0...86_400)
        static let code = Self.code("code")
        static let text = Member.text("text", 1...64, pattern: FaultText.pattern)
            .checked("invalid_value", FaultText.rule, FaultText.isPlain)
        static let streams = Member.choice("streams", of: Streams.self)
        static let after = Member.integer("after", Self.counts)

        static let actions: [any RequestMemberProtocol] = [
            Self.latency, Self.reason, Self.reset, Self.goAway, Self.stall, Self.slow, Self.dropAcks,
            Self.expiredCertificate, Self.streamLimit, Self.feedbackDelay, Self.close, Self.dropDevice,
        ]
        /// The members that refine an action, each with the name of its action.
        static let details: [(member: any RequestMemberProtocol, action: String)] = [
            (Self.retryAfter, Self.reason.name), (Self.code, Self.goAway.name), (Self.text, Self.goAway.name),
            (Self.streams, Self.goAway.name), (Self.after, Self.streamLimit.name),
        ]
        static let all = Self.actions + Self.details.map(\.member)

        private static func code(_ name: String) -> RequestMember<FaultErrorCode> {
            Member.text(name, 1...32)
                .parsed("invalid_value", "use an error code of HTTP/2, like REFUSED_STREAM") { FaultErrorCode($0) }
        }

        private static func onlyTrue(_ name: String) -> RequestMember<Bool> {
            RequestMember<Bool>(name, .onlyTrue) { (fields, name) throws(RequestError) in
                switch fields.members[name] {
                case nil: return nil
                case .bool(true): return true
                default: throw fields.wrongType(name, "true")
                }
            }
        }
    }

    /// The treatment of the requests before a GOAWAY frame, which either get their responses or are lost.
    enum Streams: String, CaseIterable {
        case finish, lose
    }

    init(_ fields: JSONFields) throws(RequestError) {
        let names = Members.actions.map { $0.name }.filter { fields.members[$0] != nil }
        guard let name = names.first else {
            let all = Members.actions.map { $0.name }.joined(separator: ", ")
            throw fields.error("latency", "missing_field", "use one of: \(all)")
        }
        if let other = names.dropFirst().first {
            throw fields.error(other, "invalid_value", "a fault does one thing, and this one has \(name) already")
        }
        for (member, action) in Members.details where action != name && fields.members[member.name] != nil {
            throw fields.error(member.name, "not_applicable", "this is only for \(action)")
        }
        self = try Self.read(name, fields)
    }

    private static func read(_ name: String, _ fields: JSONFields) throws(RequestError) -> FaultAction {
        switch name {
        case Members.latency.name: return .latency(try fields.required(Members.latency))
        case Members.reason.name:
            let delay = try fields.value(Members.retryAfter).map(Int.init)
            return .reject(try fields.required(Members.reason), retryAfter: delay)
        case Members.reset.name: return .reset(try fields.required(Members.reset))
        case Members.goAway.name: return .goAway(try self.goAway(fields))
        case Members.stall.name: return .stall(try fields.required(Members.stall))
        case Members.slow.name: return .slow(bytesPerSecond: Int(try fields.required(Members.slow)))
        case Members.streamLimit.name:
            let limit = Int(try fields.required(Members.streamLimit))
            return .streamLimit(limit, after: Int(try fields.value(Members.after) ?? 0))
        case Members.feedbackDelay.name: return .feedbackDelay(try fields.required(Members.feedbackDelay))
        case Members.dropDevice.name: return .dropDevice(after: Int(try fields.required(Members.dropDevice)))
        case Members.dropAcks.name:
            _ = try fields.required(Members.dropAcks)
            return .dropAcks
        case Members.expiredCertificate.name:
            _ = try fields.required(Members.expiredCertificate)
            return .expiredCertificate
        default:
            _ = try fields.required(Members.close)
            return .close
        }
    }

    private static func goAway(_ fields: JSONFields) throws(RequestError) -> GoAway {
        var goAway = GoAway(after: Int(try fields.required(Members.goAway)))
        if let code = try fields.value(Members.code) { goAway.code = code }
        goAway.text = try fields.value(Members.text)
        goAway.finishesStreams = try fields.value(Members.streams) != .lose
        return goAway
    }

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
