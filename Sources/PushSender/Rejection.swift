import Foundation
public import PushTypes
import PushWire

/// The response of a push service that rejected a notification, with advice (APNs reference 1.9 and 1.10).
public struct Rejection: Hashable, Sendable {
    /// The recommended action for the notification and its token.
    public enum Advice: Hashable, Sendable {
        /// Send the same notification again, after the requested delay `after`, or after any delay if it is `nil`.
        case retry(after: Duration?)
        /// Stop using the token, because the app was removed, unless the device has registered it after
        /// ``Rejection/timestamp``.
        case dropToken
        /// Drop the token only if the environment and the topic are known to be right. The token, the environment or
        /// the topic is wrong.
        case suspectToken
        /// Correct a setting. Keep the tokens, because the response would be the same for every token.
        case fixConfiguration
        /// Correct the notification, which would never be accepted unchanged.
        case fixNotification
    }

    public var status: Int
    /// The member `reason` of the response. It may be empty, or a text that is not a case of `Reason`.
    public var reasonText: String
    /// The time at which the push service found the token to be inactive, or `nil` unless the status is 410.
    public var timestamp: Timestamp?
    /// The value of the `retry-after` header, or `nil` if there was none.
    public var retryAfter: Duration?

    /// Creates the response from the values of its properties.
    public init(status: Int, reasonText: String, timestamp: Timestamp? = nil, retryAfter: Duration? = nil) {
        (self.status, self.reasonText) = (status, reasonText)
        (self.timestamp, self.retryAfter) = (timestamp, retryAfter)
    }

    /// The reason, or `nil` if ``reasonText`` is not a case of `Reason`.
    public var reason: Reason? { Reason(rawValue: self.reasonText) }

    /// The recommended action. A reason that is not a case of `Reason` is classified by the status.
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

    /// A Boolean value that indicates whether the connection is unusable after this response, so that a new one is
    /// opened (APNs reference 1.9, column Conn).
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

/// Parses the body of a push service's response (APNs reference 1.8).
enum PushResponse {
    private struct Body: Decodable {
        var reason: String?
        /// The time at which the token became inactive, in milliseconds since 1970, or `nil` unless the status is 410.
        var timestamp: Int64?
    }

    /// Returns the rejection for a response with a status other than 200. If the body is not JSON, the reason is empty
    /// and the status alone determines the advice.
    static func rejection(_ response: HTTP2Response) -> Rejection {
        let content = Self.content(response.body)
        return Rejection(
            status: response.head.status,
            reasonText: content?.reason ?? "",
            timestamp: content?.timestamp.map(Timestamp.init(milliseconds:)),
            retryAfter: response.head.retryAfter.flatMap(UInt32.init).map { .seconds(Int64($0)) }
        )
    }

    /// Returns the member `reason` of a JSON object, or an empty string if there is none.
    static func reasonText(_ body: [UInt8]) -> String { Self.content(body)?.reason ?? "" }

    private static func content(_ body: [UInt8]) -> Body? {
        body.first == UInt8(ascii: "{") ? try? JSONDecoder().decode(Body.self, from: Data(body)) : nil
    }
}
