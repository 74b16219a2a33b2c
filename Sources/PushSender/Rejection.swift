public import PushTypes

/// A refusal by the push service and what it asks of the sender (reference 1.9 and 1.10).
public struct Rejection: Hashable, Sendable {
    /// What to do about the notification and the token.
    public enum Advice: Hashable, Sendable {
        /// Send the same again, not before `after`; `nil` leaves the delay to the caller.
        case retry(after: Duration?)
        /// The token is dead: stop using it.
        case dropToken
        /// The token is dead or the environment or topic is wrong: drop it only with evidence that they are right.
        case suspectToken
        /// A setting is wrong: the same for every token, so keep the tokens.
        case fixConfiguration
        /// This notification can never be sent.
        case fixNotification
    }

    /// HTTP status.
    public var status: Int
    /// The text of the answer, also where it is none that ``Reason`` knows.
    public var reasonText: String
    /// When the service confirmed that the token is dead; only with 410.
    public var timestamp: Timestamp?
    /// From a `retry-after` header, if there was one.
    public var retryAfter: Duration?

    public init(status: Int, reasonText: String, timestamp: Timestamp? = nil, retryAfter: Duration? = nil) {
        self.status = status
        self.reasonText = reasonText
        self.timestamp = timestamp
        self.retryAfter = retryAfter
    }

    public var reason: Reason? { Reason(rawValue: self.reasonText) }

    public var advice: Advice {
        switch self.reason {
        case .unregistered, .expiredToken: .dropToken
        case .badDeviceToken, .deviceTokenNotForTopic: .suspectToken
        case .badCertificate, .badCertificateEnvironment, .badEnvironmentKeyIdInToken, .badEnvironmentKeyInToken,
            .badTopic, .forbidden, .invalidProviderToken, .missingProviderToken, .missingTopic, .topicDisallowed,
            .unrelatedKeyIdInToken, .badPath, .methodNotAllowed:
            .fixConfiguration
        case .expiredProviderToken, .tooManyProviderTokenUpdates, .tooManyRequests, .internalServerError,
            .serviceUnavailable, .shutdown, .idleTimeout:
            .retry(after: self.retryAfter)
        default: self.adviceByStatus
        }
    }

    /// Whether the service or its rules want a new connection after this answer (reference 1.9, column Conn).
    var endsConnection: Bool {
        switch self.reason {
        case .badCertificate, .badCertificateEnvironment, .idleTimeout, .shutdown, .unrelatedKeyIdInToken: true
        default: false
        }
    }

    private var adviceByStatus: Advice {
        switch self.status {
        case 410: .dropToken
        case 403, 404, 405: .fixConfiguration
        case 429, 500...: .retry(after: self.retryAfter)
        default: .fixNotification
        }
    }
}
