import PushSupport
import PushTypes

/// The members that several requests of the admin API share.
extension Member {
    /// Creates a member for the id of a team or a key, in Apple's form.
    static func identifier(_ name: String) -> RequestMember<String> {
        Self.text(name, maximum: 64, as: .string(length: 10...10, pattern: "^[A-Za-z0-9]+$"))
            .checked("invalid_identifier", "team and key ids have 10 letters or digits") { text in
                text.utf8.count == 10 && text.utf8.allSatisfy(\.isAlphanumeric)
            }
    }

    /// Creates a member for a bundle id or topic.
    static func topic(_ name: String) -> RequestMember<Topic> {
        Self.text(name, maximum: 1024, as: .bundleID).parsed("invalid_bundle_id", self.topicRule) { Topic($0) }
    }

    /// Creates a member for an array of topics. Duplicates are removed; the order is kept.
    /// - Parameter maximum: The maximum number of topics.
    static func topics(_ name: String, maximum: Int) -> RequestMember<[Topic]> {
        Self.texts(name, 0...maximum, maximum: Topic.maximumLength, as: .bundleID)
            .map { (names, fields) throws(RequestError) in
                var topics: [Topic] = []
                for (index, text) in names.enumerated() {
                    guard let topic = Topic(text) else {
                        throw fields.error("\(name)[\(index)]", "invalid_bundle_id", self.topicRule)
                    }
                    if !topics.contains(topic) { topics.append(topic) }
                }
                return topics
            }
    }

    /// Creates a member for an environment.
    static func environment(_ name: String) -> RequestMember<PushEnvironment> {
        Self.choice(name, of: PushEnvironment.self, code: "invalid_environment", message: self.environmentRule)
    }

    /// Creates a member for an array of environments. Duplicates are removed.
    static func environments(_ name: String) -> RequestMember<Set<PushEnvironment>> {
        let all = PushEnvironment.allCases.count
        let texts = Self.texts(name, 1...all, maximum: 64, as: .choice(of: PushEnvironment.self))
        return RequestMember<Set<PushEnvironment>>(name, texts.schema) { (fields, name) throws(RequestError) in
            guard let names = try fields.value(texts) else { return nil }
            let environments = Set(names.compactMap(PushEnvironment.init(rawValue:)))
            guard !environments.isEmpty, environments.count == names.count else {
                throw fields.error(name, "invalid_environment", self.environmentRule)
            }
            return environments
        }
    }

    /// The member for a signing request, PKCS#10 in PEM.
    static let signingRequest = Self.text("csr", 1...16_384).described("A signing request, PKCS#10 in PEM.")

    private static let topicRule = "a bundle id or topic has 1 to 255 letters, digits, dots, hyphens or underscores"
    private static let environmentRule = "environments are sandbox and production"
}
