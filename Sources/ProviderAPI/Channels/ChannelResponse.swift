import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// A channel in a response.
struct ChannelResponse: ResponseObject {
    private let id: ChannelID
    private let environment: PushEnvironment
    private let record: ChannelRecord?
    private let state: ChannelDirectory.Entry.State?

    init(_ channel: ChannelRecord) {
        (self.id, self.environment, self.record, self.state) = (channel.id, channel.environment, channel, nil)
    }

    init(_ entry: ChannelDirectory.Entry) {
        (self.id, self.environment, self.record, self.state) = (entry.id, entry.environment, entry.record, entry.state)
    }

    static let schemaName: String? = "Channel"
    static let members: [ResponseMember<Self>] = [
        .required("id", \.id.text, "Base64, as the app follows it."),
        .required("environment", \.environment),
        .optional(
            "storage",
            \.record?.storage.word,
            as: .choice(ChannelStorage.allCases.map(\.word)),
            "The broadcasts that are stored; absent for a channel that was made elsewhere."
        ),
        .optional("name", \.record?.name),
        .optional("createdAtMs", \.record?.createdAt, "When the provider learned of it."),
        .optional(
            "state",
            \.state?.rawValue,
            as: .choice(ChannelDirectory.Entry.State.allCases.map(\.rawValue)),
            "active; missing at the push service; foreign: made elsewhere; unchecked. In lists."
        ),
    ]
}

/// The channels of an app in a response.
struct ChannelListResponse: ResponseObject {
    let listing: ChannelDirectory.Listing

    private var channels: [ChannelResponse] { self.listing.entries.map { ChannelResponse($0) } }
    private var problems: [ChannelProblem]? {
        let problems = self.listing.problems.sorted { $0.key.rawValue < $1.key.rawValue }
        return problems.isEmpty ? nil : problems.map { ChannelProblem(environment: $0, error: $1) }
    }

    static let schemaName: String? = "ChannelList"
    static let members: [ResponseMember<Self>] = [
        .required("channels", \.channels),
        .optional("problems", \.problems, "The environments whose push service could not be asked."),
    ]
}

/// The reason for which the channels of an environment are not checked.
struct ChannelProblem: ResponseObject {
    let environment: PushEnvironment
    let error: RequestError

    static let schemaName: String? = "ChannelProblem"
    static let members: [ResponseMember<Self>] = [
        .required("environment", \.environment),
        .required("code", \.error.code),
        .required("message", \.error.message),
    ]
}
