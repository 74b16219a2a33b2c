import Foundation

/// The persisted state of a registration: the values that the app wants, and those that the provider has confirmed.
struct RegistrationState: Codable, Equatable, Sendable {
    /// The id of the installation, made once.
    var installation: UUID
    /// The secret of the last response.
    var secret: String?
    /// The provider's URL and the app to which the rest of the state belongs.
    var target: String
    /// The public key with which requests were sent.
    var key: String
    /// The tokens, by their place (``TokenKind/place``).
    var tokens: [String: Token] = [:]
    /// The members that all tokens share, as the app wants them. An attribute has a member of its own, such as
    /// `attributes.team`. A member that the app has never set is missing, and the provider keeps its value.
    var wanted: [String: JSONValue] = [:]
    /// The members as the provider has confirmed them.
    var confirmed: [String: JSONValue] = [:]
    /// The values that the provider has refused.
    var refused: [String: Refused] = [:]
    /// `true` until the provider has removed the installation.
    var isLeaving = false
    /// The user that the provider has for this installation.
    var user = User.none
    /// The token of the last request without a secret. The provider may have it, although no response came.
    var unanswered: Token?
    /// The last token that the provider has confirmed. With it the user's preferences are sent if no other token can be.
    var registered: Token?
    /// The maximum size of the shared members in a request, in bytes. It falls after the provider has refused one for its size.
    var room = RegistrationStateMachine.maximumShared
    /// The last time at which a new id replaced the installation's, because the provider did not accept its secret.
    var replacedAt: Date?
    var backOff = RetryDelay()
    /// The level of receipts that the user allows.
    var receiptPrivacy = ReceiptPrivacy.device

    /// The user of an installation, as far as it is known.
    enum User: String, Codable, Equatable, Sendable {
        /// No user is attached.
        case none
        /// A proof is under way, and no user was attached before.
        case proofSent
        /// A user is attached, or may be: a response was lost.
        case attached
    }

    /// A token of one place.
    struct Token: Codable, Equatable, Sendable {
        /// Hexadecimal.
        var text: String
        var environment: PushEnvironment
        let kind: String
        let activity: String?
        var registeredAt: Date
        /// The last token of this place that the provider has confirmed.
        var confirmed: Confirmed?
        /// The last token of this place that the provider has refused.
        var refused: Confirmed?

        /// The place of the token in the installation (``TokenKind/place``).
        var place: String { self.activity.map { "\(self.kind) \($0)" } ?? self.kind }

        /// A token at a time.
        struct Confirmed: Codable, Equatable, Sendable {
            let text: String
            let environment: PushEnvironment
            let at: Date
        }

        /// Returns `true` if a confirmation or refusal was of the present token, less than an interval ago.
        func isFresh(_ past: Confirmed?, now: Date, interval: TimeInterval) -> Bool {
            guard let past, past.text == self.text, past.environment == self.environment else { return false }
            // A time in the future is left from a clock that has been set back.
            return (-3600..<interval).contains(now.timeIntervalSince(past.at))
        }
    }

    /// A value that the provider has refused.
    struct Refused: Codable, Equatable, Sendable {
        let value: JSONValue
        let at: Date
    }
}

extension RegistrationState {
    /// Reads a stored state. A member that is missing or unreadable, as in the state of another version of the app, gets its
    /// default. The installation keeps its id, and values without a known confirmation are sent again.
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
