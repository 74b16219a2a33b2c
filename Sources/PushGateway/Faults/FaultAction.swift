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
    /// The listener shows a certificate that ended yesterday.
    case expiredCertificate
    /// The stream limit, announced when the connection starts, or after `after` requests.
    case streamLimit(Int, after: Int)
    /// Feedback entries are sent so much later.
    case feedbackDelay(Duration)
    /// The connection is closed without an error packet or GOAWAY.
    case close
    /// The connection of a device is closed after `after` messages.
    case dropDevice(after: Int)

    /// The content of a GOAWAY frame (RFC 9113 section 6.8).
    struct GoAway: Hashable, Sendable {
        /// The requests on the connection before it.
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
