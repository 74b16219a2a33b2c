import PushTypes

struct ProviderApp: Hashable, Sendable {
    var bundleID: Topic
    var teamID: String
    /// A Boolean value that indicates whether the app may use broadcasts (reference 4.1).
    var allowsBroadcast = true
    /// The length of the app's new device tokens, in bytes: 32, or 0 for encrypted tokens of varying length. If it is
    /// `nil`, the gateway's setting applies.
    var tokenLength: Int?

    static let tokenLengths = [0, TokenMinter.shortLength]
}

/// A change of an app's settings. A property that is `nil` leaves its setting unchanged. A ``tokenLength`` of
/// `.some(nil)` restores the gateway's setting.
struct ProviderAppChange: Hashable, Sendable {
    var allowsBroadcast: Bool?
    var tokenLength: Int??

    func apply(to app: inout ProviderApp) {
        if let allowsBroadcast { app.allowsBroadcast = allowsBroadcast }
        if let tokenLength { app.tokenLength = tokenLength }
    }
}

struct ProviderCertificate: Hashable, Sendable {
    /// The serial number in lower-case hexadecimal.
    var serial: String
    /// The topic in the subject's UID, which applies to pushes that name no topic.
    var topic: Topic
    var topics: Set<Topic>
    var environments: Set<PushEnvironment>
    var issuedAt: Timestamp
    var expiresAt: Timestamp
    var revokedAt: Timestamp?
}

/// The name of the scope of a provider's key, in the admin API and in the database.
package enum KeyScopeName: String, CaseIterable, Sendable {
    case team, environment, topics
}

struct RegisteredKey: Hashable, Sendable {
    enum Scope: Hashable, Sendable {
        /// All topics of the team in both environments: the original kind of key.
        case team
        /// All topics of the team in one environment.
        case environment(PushEnvironment)
        /// The given topics in one environment. A connection that uses the key may use at most one other key, the
        /// related one.
        case topics(TopicScope)

        var name: KeyScopeName {
            switch self {
            case .team: .team
            case .environment: .environment
            case .topics: .topics
            }
        }

        /// The environment in which the key may be used, or `nil` for both.
        var environment: PushEnvironment? {
            switch self {
            case .team: nil
            case .environment(let environment): environment
            case .topics(let scope): scope.environment
            }
        }

        /// The scope of a topic-specific key, or `nil` for a key of another kind.
        var topics: TopicScope? { if case .topics(let scope) = self { scope } else { nil } }
    }

    struct TopicScope: Hashable, Sendable {
        var topics: Set<Topic>
        var environment: PushEnvironment
        /// The id of the other key that may be used on the same connection, or `nil` if there is none.
        var relatedKeyID: String?
    }

    var teamID: String
    var keyID: String
    /// The public key in X9.63 format, 65 bytes.
    var publicKey: [UInt8]
    var scope = Scope.team
    /// The time at which the key was revoked, or `nil` if it is valid. Revoked keys are kept, so that no id is used
    /// again.
    var revokedAt: Timestamp?

    func serves(_ environment: PushEnvironment) -> Bool { self.scope.environment ?? environment == environment }

    /// Returns whether both keys may be used on one connection. A topic-specific key allows only its related key
    /// besides itself.
    func isRelated(to other: RegisteredKey) -> Bool {
        guard self.teamID == other.teamID else { return false }
        switch (self.scope, other.scope) {
        case (.topics(let own), .topics(let others)):
            return self.keyID == other.keyID || own.relatedKeyID == other.keyID || others.relatedKeyID == self.keyID
        case (.topics, _), (_, .topics): return false
        default: return true
        }
    }

    /// Returns whether the key allows the topic: it has no list of topics, or the list contains the topic or its app.
    func lists(_ topic: Topic, ofApp bundleID: Topic) -> Bool {
        guard let scope = self.scope.topics else { return true }
        return scope.topics.contains(topic) || scope.topics.contains(bundleID)
    }
}
