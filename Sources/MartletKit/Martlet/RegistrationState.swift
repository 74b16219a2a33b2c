import Foundation

/// The persisted state of a registration: the values that the app wants, and those that the provider has confirmed.
struct RegistrationState: Codable, Equatable, Sendable {
    /// The id of the installation, which the device generates.
    var installation: UUID
    /// The last secret from the provider, which authenticates the installation's requests, or `nil` before the first.
    var secret: String?
    /// The provider URL and the app for which the rest of the state is valid.
    var target: String
    /// The public API key with which the last requests were sent.
    var key: String
    /// The current tokens, by the key under which each is stored (``TokenKind/place``).
    var tokens: [String: Token] = [:]
    /// The members that all tokens share, as the app wants them. Each attribute is a separate member, such as
    /// `attributes.team`. A member that the app has never set is missing, and the provider keeps its value.
    var wanted: [String: JSONValue] = [:]
    /// The values of the members that the provider has confirmed. A value in ``wanted`` that differs is sent.
    var confirmed: [String: JSONValue] = [:]
    var refused: [String: Refused] = [:]
    /// A Boolean value that indicates whether the app has unregistered and the provider has not removed the
    /// installation yet.
    var isLeaving = false
    var user = User.none
    /// The token in a request without a secret to which no response has arrived, or `nil` if there is no such request.
    /// The provider may have registered it nevertheless.
    var unanswered: Token?
    /// The last token that the provider has confirmed, or `nil` before the first. Decisions of the user, such as
    /// preferences, are sent with it if no other token can be sent.
    var registered: Token?
    /// The maximum size, in bytes, of the members in a request that all tokens share. It is reduced after the provider
    /// refused a request because of its size.
    var room = RegistrationStateMachine.maximumShared
    /// The last time at which the installation received a new id because the provider did not accept its secret, or
    /// `nil` if it never did.
    var replacedAt: Date?
    var backOff = RetryDelay()
    var receiptPrivacy = ReceiptPrivacy.device

    /// The state of a user's attachment to an installation, as far as it is known.
    enum User: String, Codable, Equatable, Sendable {
        case none
        /// The state in which a user proof was sent but no response has arrived, and no user was attached before.
        case proofSent
        /// The state of an installation to which a user is attached, or may be because a response was lost.
        case attached
    }

    /// A token of the installation, stored under its ``place``.
    struct Token: Codable, Equatable, Sendable {
        var text: String
        var environment: PushEnvironment
        let kind: String
        let activity: String?
        var registeredAt: Date
        /// The last token of this ``place`` that the provider has confirmed, or `nil` if it has confirmed none.
        var confirmed: Confirmed?
        /// The last token of this ``place`` that the provider has refused, or `nil` if it has refused none.
        var refused: Confirmed?

        var place: String { self.activity.map { "\(self.kind) \($0)" } ?? self.kind }

        /// A token that the provider confirmed or refused, with the time at which it did so.
        struct Confirmed: Codable, Equatable, Sendable {
            let text: String
            let environment: PushEnvironment
            let at: Date
        }

        /// Returns whether a confirmation or refusal is about the present token and is younger than `interval` seconds.
        /// The result is `false` for `nil`.
        func isFresh(_ past: Confirmed?, now: Date, interval: TimeInterval) -> Bool {
            guard let past, past.text == self.text, past.environment == self.environment else { return false }
            // A time in the future is left from a clock that has been set back.
            return (-3600..<interval).contains(now.timeIntervalSince(past.at))
        }
    }

    /// A value that the provider has refused, with the time of the refusal.
    struct Refused: Codable, Equatable, Sendable {
        let value: JSONValue
        let at: Date
    }
}

extension RegistrationState {
    /// Decodes a stored state. A member that is missing or unreadable, as in the state of another version of the app,
    /// has its default. The installation keeps its id, and values without a known confirmation are sent again.
    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func value<Value: Decodable>(_ key: CodingKeys, _ missing: Value) -> Value {
            (try? members.decodeIfPresent(Value.self, forKey: key)) ?? missing
        }
        self.init(
            installation: try members.decode(UUID.self, forKey: .installation),
            secret: value(.secret, nil as String?),
            target: value(.target, ""),
            key: value(.key, "")
        )
        self.tokens = value(.tokens, [:])
        self.wanted = value(.wanted, [:])
        self.confirmed = value(.confirmed, [:])
        self.refused = value(.refused, [:])
        self.isLeaving = value(.isLeaving, false)
        self.user = value(.user, .attached)
        // The process ended before the response came.
        if self.user == .proofSent { self.user = .attached }
        self.unanswered = value(.unanswered, nil as Token?)
        self.registered = value(.registered, nil as Token?)
        self.room = value(.room, RegistrationStateMachine.maximumShared)
        self.replacedAt = value(.replacedAt, nil as Date?)
        self.backOff = value(.backOff, RetryDelay())
        self.receiptPrivacy = value(.receiptPrivacy, .none)
    }
}
