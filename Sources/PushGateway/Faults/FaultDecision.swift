import PushTypes

/// The faults that apply to one request, message or connection. Several rules can contribute. For each property, the
/// first matching rule decides.
struct FaultDecision: Hashable, Sendable {
    /// A fault that takes effect before the request is processed: a delay, or no processing at all.
    enum Before: Hashable, Sendable {
        case wait(Duration)
        /// A fault by which the request never receives a response.
        case stall
    }

    /// The outcome that replaces the regular response. A push that is rejected or reset is not submitted.
    enum Substitute: Hashable, Sendable {
        case reject(Reason, retryAfter: Int?)
        case reset(FaultErrorCode)
        /// The outcome in which the device's acknowledgement is ignored.
        case drop
    }

    /// A fault that affects the whole connection.
    enum Connection: Hashable, Sendable {
        case goAway(FaultAction.GoAway)
        case close
        /// A fault by which nothing more is read from the connection, and no more responses are sent on it.
        case stall
    }

    var rules: [String] = []
    var before: Before?
    var response: Substitute?
    var connection: Connection?
    /// The SETTINGS_MAX_CONCURRENT_STREAMS to announce, or `nil` for no change.
    var streamLimit: Int?
    /// The rate at which the gateway reads from its peer, or `nil` for no limit.
    var bytesPerSecond: Int?
    var showsExpiredCertificate = false
    /// The delay of feedback entries (``FeedbackListener/delay``), or `nil` if there is none.
    var feedbackDelay: Duration?

    /// Adds the action of a rule.
    /// - Returns: `false` if an earlier rule has set the same property, so that `action` is ignored.
    mutating func add(_ action: FaultAction, random: inout some RandomNumberGenerator) -> Bool {
        switch action {
        case .latency(let latency): Self.set(&self.before, .wait(latency.sample(using: &random)))
        case .stall(.request): Self.set(&self.before, .stall)
        case .reject(let reason, let retryAfter): Self.set(&self.response, .reject(reason, retryAfter: retryAfter))
        case .reset(let code): Self.set(&self.response, .reset(code))
        case .dropAcks: Self.set(&self.response, .drop)
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
