import ArgumentParser
import PushSupport
import PushTypes

/// The options that bound the use of a provider key.
struct KeyScopeOptions: ParsableArguments {
    /// The scopes of keys that Apple issues (reference 2.1).
    enum Scope: String, CaseIterable, ExpressibleByArgument {
        case team, environment, topics
    }

    @Option(help: "The team that the key belongs to.") var team: String

    @Option(help: "What the key may be used for: all of a team, one environment, or some topics.")
    var scope: Scope = .team

    @Option(help: "sandbox or production, for the scopes environment and topics.") var environment: PushEnvironment?
    @Option(help: "A topic of the scope topics; repeat it for several.") var topic: [String] = []
    @Option(help: "The id of an earlier key that this one, of scope topics, takes the place of.") var related: String?

    /// The members of the request.
    var members: [String: JSONValue?] {
        [
            "teamId": self.team.json, "scope": self.scope.rawValue.json, "environment": self.environment?.rawValue.json,
            "topics": .texts(self.topic), "relatedKeyId": self.related?.json,
        ]
    }
}
