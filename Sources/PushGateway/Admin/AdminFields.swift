import PushSupport
import PushTypes

/// What several bodies at the admin door have in common.
extension JSONFields {
    /// A team or key id.
    func identifier(_ name: String) throws -> String {
        let text = try self.requiredString(name, maximum: 64)
        guard Self.isIdentifier(text) else { throw self.badIdentifier(name) }
        return text
    }

    func optionalIdentifier(_ name: String) throws -> String? {
        try self.members[name] == nil ? nil : self.identifier(name)
    }

    private static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10 && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }

    private func badIdentifier(_ name: String) -> RequestError {
        self.refusal(name, "invalid_identifier", "team and key ids have 10 letters or digits")
    }

    func topic(_ name: String) throws -> Topic {
        guard let topic = Topic(try self.requiredString(name, maximum: 1024)) else {
            throw self.refusal(name, "invalid_bundle_id", Self.topicRule)
        }
        return topic
    }

    /// Without repetitions, in the order given; `nil` if the member is not there.
    func topics(_ name: String, count: Int) throws -> [Topic]? {
        try self.strings(name, count: count, maximum: Topic.maximumLength)?.enumerated().reduce(into: []) {
            all,
            entry in
            guard let topic = Topic(entry.element) else {
                throw self.refusal("\(name)[\(entry.offset)]", "invalid_bundle_id", Self.topicRule)
            }
            if !all.contains(topic) { all.append(topic) }
        }
    }

    func environment(_ name: String) throws -> PushEnvironment? {
        guard let text = try self.string(name, maximum: 64) else { return nil }
        guard let environment = PushEnvironment(rawValue: text) else { throw self.badEnvironment(name) }
        return environment
    }

    func environments(_ name: String) throws -> Set<PushEnvironment>? {
        guard let texts = try self.strings(name, count: 2, maximum: 64) else { return nil }
        let environments = Set(texts.compactMap(PushEnvironment.init(rawValue:)))
        guard !environments.isEmpty, environments.count == texts.count else { throw self.badEnvironment(name) }
        return environments
    }

    private func badEnvironment(_ name: String) -> RequestError {
        self.refusal(name, "invalid_environment", "environments are sandbox and production")
    }

    private static var topicRule: String {
        "a bundle id or topic has 1 to 255 letters, digits, dots, hyphens or underscores"
    }
}

/// Refusals of several controllers.
enum AdminErrors {
    static func full(_ what: String, _ limit: Int) -> RequestError {
        RequestError(.conflict, code: "too_many", message: "there are \(limit) \(what), and no room for more")
    }
}
