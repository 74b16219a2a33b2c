import PushSupport
import PushTypes

/// The members that several bodies of the admin API share.
extension JSONFields {
    /// Returns a team or key id.
    func identifier(_ name: String) throws -> String {
        let text = try self.requiredString(name, maximum: 64)
        guard Self.isIdentifier(text) else {
            throw self.error(name, "invalid_identifier", "team and key ids have 10 letters or digits")
        }
        return text
    }

    /// Returns a team or key id; `nil` if the member is absent.
    func optionalIdentifier(_ name: String) throws -> String? {
        try self.members[name] == nil ? nil : self.identifier(name)
    }

    /// Returns whether `text` has the form that Apple gives to the ids of teams and keys.
    private static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10 && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }

    /// Returns a required bundle id or topic.
    func topic(_ name: String) throws -> Topic {
        guard let topic = Topic(try self.requiredString(name, maximum: 1024)) else {
            throw self.error(name, "invalid_bundle_id", Self.topicRule)
        }
        return topic
    }

    /// Returns topics without duplicates, in their order; `nil` if the member is absent.
    func topics(_ name: String, count: Int) throws -> [Topic]? {
        try self.strings(name, count: count, maximum: Topic.maximumLength)?.enumerated().reduce(into: []) {
            all,
            entry in
            guard let topic = Topic(entry.element) else {
                throw self.error("\(name)[\(entry.offset)]", "invalid_bundle_id", Self.topicRule)
            }
            if !all.contains(topic) { all.append(topic) }
        }
    }

    /// Returns an environment; `nil` if the member is absent.
    func environment(_ name: String) throws -> PushEnvironment? {
        guard let text = try self.string(name, maximum: 64) else { return nil }
        guard let environment = PushEnvironment(rawValue: text) else { throw self.badEnvironment(name) }
        return environment
    }

    /// Returns a set of environments; `nil` if the member is absent.
    func environments(_ name: String) throws -> Set<PushEnvironment>? {
        guard let texts = try self.strings(name, count: 2, maximum: 64) else { return nil }
        let environments = Set(texts.compactMap(PushEnvironment.init(rawValue:)))
        guard !environments.isEmpty, environments.count == texts.count else { throw self.badEnvironment(name) }
        return environments
    }

    private func badEnvironment(_ name: String) -> RequestError {
        self.error(name, "invalid_environment", "environments are sandbox and production")
    }

    private static var topicRule: String {
        "a bundle id or topic has 1 to 255 letters, digits, dots, hyphens or underscores"
    }
}
