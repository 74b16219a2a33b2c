import ArgumentParser
import PushSupport
import PushTypes

/// What a provider key may be used for.
struct KeyScopeOptions: ParsableArguments {
    enum Scope: String, CaseIterable, ExpressibleByArgument {
        case team
        case environment
        case topics
    }

    @Option(help: "The team that the key belongs to.")
    var team: String

    @Option(help: "What the key is good for: all of a team, one environment, or some topics.")
    var scope: Scope = .team

    @Option(help: "sandbox or production, for the scopes environment and topics.")
    var environment: PushEnvironment?

    @Option(help: "A topic of the scope topics; repeat it for several.")
    var topic: [String] = []

    @Option(help: "The id of an earlier key that this one, of scope topics, takes the place of.")
    var related: String?

    var members: [String: JSONValue?] {
        [
            "teamId": .string(self.team), "scope": .string(self.scope.rawValue),
            "environment": self.environment.map { .string($0.rawValue) },
            "topics": self.topic.isEmpty ? nil : .array(self.topic.map(JSONValue.string)),
            "relatedKeyId": self.related.map(JSONValue.string),
        ]
    }
}
