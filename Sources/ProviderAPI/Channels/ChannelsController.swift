import Hummingbird
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The operations at `/v1/apps/{app}/channels`, which manage an app's broadcast channels at APNs and in the store.
struct ChannelsController: Controller {
    let store: any AppStore
    let channels: ChannelDirectory

    var operations: [ProviderOperation] {
        let all = "/v1/apps/{app}/channels"
        let environment = ParameterDescription.query(
            "environment",
            "Of the channel; default that of the channel which the provider knows.",
            .environment
        )
        return [
            .init(.post, all, .audited, id: "createChannel", self.create)
                .summary("Creates a channel at the push service, for good: it stays until it is deleted.")
                .tag(.channels).scope(.send).body(ChannelRequest.addition.schema, maximum: 16 * 1024)
                .responses(.init(status: 201, "Created.", ChannelResponse.schema)).errors(.conflict),
            .init(.get, all, id: "listChannels", self.list)
                .summary("The channels, and whether the push service has them.")
                .tag(.channels).scope(.read)
                .parameters(
                    .environment,
                    .query("check", "false: the push service is not asked. Default true.", .choice(["true", "false"]))
                )
                .responses(.ok(ChannelListResponse.schema)),
            .init(.get, "\(all)/{channel}", id: "showChannel", self.show)
                .summary("One channel. One that was made elsewhere is asked for, and known from then on.")
                .tag(.channels).scope(.send).parameters(environment).responses(.ok(ChannelResponse.schema))
                .errors(.conflict),
            .init(.delete, "\(all)/{channel}", .audited, id: "deleteChannel", self.delete)
                .summary("Deletes a channel at the push service, for good.")
                .tag(.channels).scope(.send).parameters(environment).responses(.noContent).errors(.conflict),
        ]
    }

    private func create(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let fields = try await request.fields(ChannelRequest.addition)
        let environment = try fields.required(
            Member.environment,
            "name sandbox or production: they share no channels"
        )
        let storage = try fields.value(ChannelRequest.storage)
        let channel = try await self.channels.create(
            app,
            environment,
            storage: storage ?? .none,
            name: try fields.value(ChannelRequest.name)
        )
        return try .json(ChannelResponse(channel), status: .created)
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let isChecked = try request.value(
            "check",
            { ["true": true, "false": false][$0] },
            orThrow: .invalid("check", "use true or false")
        )
        let listing = try await self.channels.channels(of: app, try request.environment(), isChecked: isChecked ?? true)
        return try .json(ChannelListResponse(listing: listing))
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let channel = try await self.channels.channel(try Self.id(request), of: app, try request.environment())
        return try .json(ChannelResponse(channel))
    }

    private func delete(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        try await self.channels.delete(try Self.id(request), of: app, try request.environment())
        return .noContent
    }

    private static func id(_ request: OperationRequest) throws -> ChannelID {
        guard let id = ChannelID(request.path("channel")) else { throw RequestError.noSuch("channel") }
        return id
    }
}

/// The response object for a broadcast channel. In a list, it also states whether the channel exists at the push
/// service, in the store, or in both.
private struct ChannelResponse: ResponseObject {
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

/// The response body that lists an app's broadcast channels, with the environments whose channels were not compared.
private struct ChannelListResponse: ResponseObject {
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

/// An environment whose channels could not be compared with those at the push service, with the error.
private struct ChannelProblem: ResponseObject {
    let environment: PushEnvironment
    let error: RequestError

    static let schemaName: String? = "ChannelProblem"
    static let members: [ResponseMember<Self>] = [
        .required("environment", \.environment),
        .required("code", \.error.code),
        .required("message", \.error.message),
    ]
}
