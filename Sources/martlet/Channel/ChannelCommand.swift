import ArgumentParser
import Logging
import PushSender
import PushSupport
import PushTypes

/// `martlet channel`: manages the broadcast channels of an app, at Apple or a gateway.
struct ChannelCommand: AsyncParsableCommand {
    static let configuration = command("channel", "The broadcast channels of an app's Live Activities.")
        .detail(
            """
            Through a provider, which keeps a list of them; with --credential directly at Apple or a gateway. \
            'martlet broadcast' sends to one.
            """
        )
        .example("channel add --environment production --stores --name 'match 7' --app com.example.MyApp")
        .example(
            """
            channel list --app com.example.MyApp --credential AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ \
            --service production
            """
        )
        .subcommands([Add.self, List.self, Remove.self])

    /// `martlet channel add`: creates a channel.
    struct Add: AsyncParsableCommand {
        static let configuration = command("add", "Create a channel and print its id.")
            .detail("It stays until it is deleted. Apple allows 10,000 for each app and environment.")
            .example("channel add --environment sandbox --stores --app com.example.MyApp")

        @OptionGroup var access: AppOptions
        @Option(help: "sandbox or production; with --credential, --service decides.")
        var environment: PushEnvironment?
        @Flag(help: "Keep the newest broadcast for devices that are away, for 8 hours.") var stores = false
        @Option(help: "A name by which people know it, in the provider's list.") var name: String?
        @OptionGroup(title: "Straight to a push service") var direct: ServiceCredentialOptions

        func validate() throws {
            guard self.direct.isGiven == (self.environment == nil) else {
                let message = self.direct.isGiven ? "Leave out --environment: --service tells." : "Give --environment."
                throw ValidationError(message)
            }
            guard !self.direct.isGiven || self.name == nil else {
                throw ValidationError("--name is for a provider: leave it out, or --credential.")
            }
        }

        func run() async throws {
            if self.direct.isGiven {
                let id = try await DirectChannels(self.direct, self.access).create(self.stores ? .newest : .none)
                return try ChannelCommand.print(["id": .string(id.text)], id.text, asJSON: self.access.json)
            }
            let made = try await self.access.connection().send(self.request())
            try self.access.print(made) { $0["id"].stringValue?.printable ?? "" }
        }

        func request() -> APIRequest {
            .post("channels").body([
                "environment": self.environment?.rawValue.json, "storage": self.stores ? "newest" : "none",
                "name": self.name?.json,
            ])
        }
    }

    /// `martlet channel list`: lists the channels.
    struct List: AsyncParsableCommand {
        static let configuration = command(
            "list",
            "List the channels of an app, and whether the push service has them."
        )
        .example("channel list --environment production --app com.example.MyApp")
        private static let columns: TextTable = [
            "id", "environment", "state", "storage", "name", .time("since", "createdAtMs"),
        ]

        @OptionGroup var access: AppOptions
        @Option(help: "sandbox or production; default: both.") var environment: PushEnvironment?
        @OptionGroup(title: "Straight to a push service") var direct: ServiceCredentialOptions

        func validate() throws {
            guard !self.direct.isGiven || self.environment == nil else {
                throw ValidationError("Leave out --environment: --service tells.")
            }
        }

        func run() async throws {
            if self.direct.isGiven {
                let ids = try await DirectChannels(self.direct, self.access).list()
                let text = ids.isEmpty ? "(none)" : ids.map(\.text).joined(separator: "\n")
                let json: JSONValue = .object(["channels": .array(ids.map { .string($0.text) })])
                return try ChannelCommand.print(json, text, asJSON: self.access.json)
            }
            let query = [("environment", self.environment?.rawValue)]
            let list = try await self.access.connection().send(.get("channels").query(query))
            try self.access.print(list) { list in
                let channels = list["channels"].elements
                return channels.isEmpty ? "(none)" : Self.columns.text(of: channels)
            }
            for problem in list["problems"].elements {
                let place = problem["environment"].stringValue?.printable ?? ""
                StandardError.line("warning: \(place): \(problem["message"].stringValue?.printable ?? "")")
            }
        }
    }

    /// `martlet channel remove`: deletes a channel.
    struct Remove: AsyncParsableCommand {
        static let configuration = command("remove", "Delete a channel for good.")
            .example("channel remove dGVzdC1jaGFubmVsLTAx --app com.example.MyApp")

        @OptionGroup var access: AppOptions
        @Argument(help: "The channel's id, in base64.") var channel: ChannelID
        @Option(help: "sandbox or production, for a channel that the provider does not know.")
        var environment: PushEnvironment?
        @OptionGroup(title: "Straight to a push service") var direct: ServiceCredentialOptions

        func run() async throws {
            if self.direct.isGiven {
                try await DirectChannels(self.direct, self.access).delete(self.channel)
            } else {
                let query = [("environment", self.environment?.rawValue)]
                let request = APIRequest.delete("channels", self.channel.text).query(query)
                _ = try await self.access.connection().send(request)
            }
            try ChannelCommand.print(.object([:]), "channel \(self.channel) is removed", asJSON: self.access.json)
        }
    }

    fileprivate static func print(_ json: JSONValue, _ text: String, asJSON: Bool) throws {
        try StandardOutput.result(asJSON ? try json.line : text)
    }
}

/// A client for an app's channels at a push service, without a provider.
private struct DirectChannels {
    private let service: ChannelService
    private let bundleID: Topic

    /// Creates a client from the options.
    /// - Throws: The errors of ``DirectDestination``.
    init(_ options: ServiceCredentialOptions, _ access: AppOptions) async throws {
        let settings = try await access.settings([options.proxy, options.passphrase])
        let destination = try DirectDestination(options, settings: settings)
        let log = LogConfiguration(settings, defaultLevel: .warning)
        try settings.check()
        self.bundleID = try ServiceCredentialOptions.bundleID(settings, destination.credential)
        self.service = try ChannelService(
            to: destination.endpoint.forChannels,
            credential: destination.credential,
            configuration: destination.configuration,
            logger: log.logger("channels")
        )
    }

    func create(_ storage: ChannelStorage) async throws -> ChannelID {
        try await self.perform { try await $0.createChannel(storing: storage, for: $1) }
    }

    func list() async throws -> [ChannelID] { try await self.perform { try await $0.channels(of: $1) } }

    func delete(_ channel: ChannelID) async throws {
        try await self.perform { try await $0.deleteChannel(channel, of: $1) }
    }

    /// Performs one call to the push service, closes the connection, and returns the call's result.
    private func perform<Value: Sendable>(_ call: (ChannelService, Topic) async throws -> Value) async throws -> Value {
        let result: Result<Value, any Error>
        do {
            result = .success(try await call(self.service, self.bundleID))
        } catch {
            result = .failure(error)
        }
        await self.service.close()
        do {
            return try result.get()
        } catch let error as ChannelServiceError {
            throw SettingsError(error.explanation, status: error.exitStatus)
        }
    }
}

extension ChannelServiceError {
    /// The description of this error, preceded by what it means for the command, for an error message.
    fileprivate var explanation: String {
        switch self {
        case .rejected: "the push service says \(self)"
        case .notSent: "nothing was sent: \(self)"
        case .unknown: "the response was lost, 'martlet channel list' tells what is there: \(self)"
        case .malformed: "\(self)"
        }
    }

    fileprivate var exitStatus: ExitStatus {
        switch self {
        case .rejected, .malformed: .failed
        case .notSent, .unknown: .unavailable
        }
    }
}
