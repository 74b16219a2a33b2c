import PushSupport
import PushTypes

extension Member {
    /// Creates a member for the id of a team or a key: ten letters or digits.
    static func identifier(_ name: String) -> RequestMember<String> {
        Self.text(name, maximum: 64, as: .string(length: 10...10, pattern: "^[A-Za-z0-9]+$"))
            .checked("invalid_identifier", "team and key ids have 10 letters or digits") { text in
                text.utf8.count == 10 && text.utf8.allSatisfy(\.isAlphanumeric)
            }
    }

    static func topic(_ name: String) -> RequestMember<Topic> {
        Self.text(name, maximum: 1024, as: .bundleID).parsed("invalid_bundle_id", self.topicRule) { Topic($0) }
    }

    /// Creates a member for an array of topics. Duplicates are removed, and the order is kept.
    /// - Parameter maximum: The maximum number of topics.
    static func topics(_ name: String, maximum: Int) -> RequestMember<[Topic]> {
        Self.texts(name, 0...maximum, maximum: Topic.maximumLength, as: .bundleID)
            .parsedEach("invalid_bundle_id", self.topicRule) { Topic($0) }
            .map { (topics, _) throws(RequestError) in
                topics.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
            }
    }

    static func environment(_ name: String) -> RequestMember<PushEnvironment> {
        Self.choice(name, of: PushEnvironment.self, code: "invalid_environment", message: self.environmentRule)
    }

    static func environments(_ name: String) -> RequestMember<Set<PushEnvironment>> {
        Self.set(name, of: PushEnvironment.self, code: "invalid_environment", message: self.environmentRule)
    }

    /// The member for a signing request, PKCS#10 in PEM.
    static let signingRequest = Self.text("csr", 1...16_384).described("A signing request, PKCS#10 in PEM.")

    private static let topicRule = "a bundle id or topic has 1 to 255 letters, digits, dots, hyphens or underscores"
    private static let environmentRule = "environments are sandbox and production"
}
