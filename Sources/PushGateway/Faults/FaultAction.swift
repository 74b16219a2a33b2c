import PushTypes

/// What the gateway does wrong.
enum FaultAction: Hashable, Sendable {
    /// The answer comes late.
    case latency(FaultLatency)
    /// The answer is a refusal; `retryAfter` in seconds. On the binary door it is the status of reference 5.2.
    case refuse(Reason, retryAfter: Int?)
    /// The stream is reset with this error code (RFC 9113 section 7).
    case reset(FaultErrorCode)
    case goAway(GoAway)
    /// Neither an answer nor an end.
    case stall(Stall)
    /// The gateway reads no faster from its peer, provider or device.
    case slow(bytesPerSecond: Int)
    /// A device's acknowledgement counts as never come.
    case dropAcks
    /// The door shows a certificate that ended yesterday.
    case expiredCertificate
    /// Announced when the connection starts, or once it has had `after` requests.
    case streamLimit(Int, after: Int)
    /// Feedback entries are shown so much later.
    case feedbackDelay(Duration)
    /// The connection is closed without a word.
    case close
    /// The connection of a device is closed once `after` messages have left for it.
    case dropDevice(after: Int)

    struct GoAway: Hashable, Sendable {
        /// Requests on the connection that come before it.
        var after: Int
        var code = FaultErrorCode.none
        /// The `reason` of the JSON in its debug data; none without.
        var text: String?
        /// Whether the request that it strikes is still answered, and its last stream id tells so; if not, this request
        /// and those that follow are not processed.
        var finishesStreams = true
    }

    enum Stall: String, CaseIterable, Hashable, Sendable {
        /// This request; others go on.
        case request
        /// The whole connection: nothing more is read or answered.
        case connection
    }

    /// When it is decided.
    var point: FaultPoint {
        switch self {
        case .latency, .refuse, .reset, .goAway, .stall, .close: .request
        case .streamLimit(_, let after): after == 0 ? .connection : .request
        case .slow, .expiredCertificate: .connection
        case .dropAcks: .acknowledgement
        case .dropDevice: .delivery
        case .feedbackDelay: .feedback
        }
    }

    /// Where it makes sense.
    var doors: Set<FaultListener> {
        switch self {
        case .latency, .refuse, .stall, .close: [.http2, .binary]
        case .reset, .goAway, .streamLimit: [.http2]
        case .slow: [.http2, .binary, .courier]
        case .expiredCertificate: Set(FaultListener.allCases)
        case .dropAcks, .dropDevice: [.courier]
        case .feedbackDelay: [.feedback]
        }
    }

    /// Whether it strikes on a connection as far as `ordinal` (``FaultSubject/ordinal``).
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

    init(value: UInt32) {
        self.value = value
    }

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
