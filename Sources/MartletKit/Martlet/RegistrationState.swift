import Foundation

/// The persisted state of a registration: what the app wants the provider to have, and what it is known to have.
struct RegistrationState: Codable, Equatable, Sendable {
    /// The id of the installation, made once.
    var installation: UUID
    /// The secret of the last response.
    var secret: String?
    /// The provider and app for which the rest holds.
    var target: String
    /// The public key with which requests were sent.
    var key: String
    /// The tokens, by their place (``TokenKind/place``).
    var tokens: [String: Token] = [:]
    /// The members that all tokens share, as the app wants them. An attribute has a member of its own, such as
    /// `attributes.team`. What the app has never named is missing and stays as the provider has it.
    var wanted: [String: JSONValue] = [:]
    /// The members as the provider has confirmed them.
    var confirmed: [String: JSONValue] = [:]
    /// The values that the provider has refused.
    var refused: [String: Refused] = [:]
    /// `true` until the provider has removed the installation.
    var isLeaving = false
    /// The user that the provider has for this installation.
    var user = User.none
    /// The token of the last request without a secret: the provider may have it, although no response came.
    var unanswered: Token?
    /// The last token that the provider has confirmed, which still carries the user's decisions when no other can.
    var registered: Token?
    /// The most bytes of shared members in a request; fewer after the provider has refused one for its size.
    var room = RegistrationStateMachine.maximumShared
    /// The last time at which the provider did not accept the installation as this one's own.
    var replacedAt: Date?
    var backOff = RetryDelay()
    /// The level that the user allows receipts.
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
        /// The last that the provider has confirmed, and when.
        var confirmed: Confirmed?
        /// The last that it has refused.
        var refused: Confirmed?

        /// The place of the token in the installation (``TokenKind/place``).
        var place: String { self.activity.map { "\(self.kind) \($0)" } ?? self.kind }

        /// A token at a time.
        struct Confirmed: Codable, Equatable, Sendable {
            let text: String
            let environment: PushEnvironment
            let at: Date
        }

        /// Returns `true` if this was the present token, and less than an interval ago.
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
    /// Reads a stored state. What is missing or unknown, as in the state of another version of the app, has its default: the
    /// installation stays the same, and what is not known to be confirmed is sent again.
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
