import PushTypes

/// What a door has to do wrong now. Several rules can have a part in it; of the same part the first rule's counts.
struct FaultDecision: Hashable, Sendable {
    /// Before anything is done.
    enum Before: Hashable, Sendable {
        case wait(Duration)
        /// For ever: there is no answer.
        case stall
    }

    /// In place of the right answer. A push that is refused or reset is not handed to the core.
    enum ResponseDescription: Hashable, Sendable {
        case refuse(Reason, retryAfter: Int?)
        case reset(FaultErrorCode)
        /// As if it had not come: an acknowledgement.
        case drop
    }

    /// To the whole connection.
    enum Connection: Hashable, Sendable {
        case goAway(FaultAction.GoAway)
        case close
        /// Nothing more is read or answered.
        case stall
    }

    /// The ids of the rules that have a part in it, for the log.
    var rules: [String] = []
    var before: Before?
    var answer: ResponseDescription?
    var connection: Connection?
    /// SETTINGS_MAX_CONCURRENT_STREAMS to be announced.
    var streamLimit: Int?
    /// How fast the gateway reads from its peer.
    var bytesPerSecond: Int?
    var showsExpiredCertificate = false
    /// For ``FeedbackListener/delay``.
    var feedbackDelay: Duration?

    /// Whether there was room for the action.
    mutating func take(_ action: FaultAction, random: inout some RandomNumberGenerator) -> Bool {
        switch action {
        case .latency(let latency): Self.set(&self.before, .wait(latency.sample(using: &random)))
        case .stall(.request): Self.set(&self.before, .stall)
        case .refuse(let reason, let retryAfter): Self.set(&self.answer, .refuse(reason, retryAfter: retryAfter))
        case .reset(let code): Self.set(&self.answer, .reset(code))
        case .dropAcks: Self.set(&self.answer, .drop)
        case .goAway(let goAway): Self.set(&self.connection, .goAway(goAway))
        case .stall(.connection): Self.set(&self.connection, .stall)
        case .close, .dropDevice: Self.set(&self.connection, .close)
        case .streamLimit(let limit, _): Self.set(&self.streamLimit, limit)
        case .slow(let bytesPerSecond): Self.set(&self.bytesPerSecond, bytesPerSecond)
        case .feedbackDelay(let delay): Self.set(&self.feedbackDelay, delay)
        case .expiredCertificate: Self.set(&self.showsExpiredCertificate)
        }
    }

    private static func set<Value>(_ part: inout Value?, _ value: Value) -> Bool {
        guard part == nil else { return false }
        part = value
        return true
    }

    private static func set(_ part: inout Bool) -> Bool {
        guard !part else { return false }
        part = true
        return true
    }
}
