import ArgumentParser
import Foundation
import Logging
import NIOCore
import ProviderModel
import PushSender
import PushSupport
import PushTypes

/// `martlet broadcast`: updates or ends the Live Activities that follow a channel.
struct BroadcastCommand: AsyncParsableCommand {
    static let configuration = command("broadcast")
        .help("Update or end the Live Activities of everybody who follows a channel.")
        .detail(
            """
            Through a provider, which keeps it in its ledger, retries until it expires and prints its id; with \
            --credential directly at Apple or a gateway, once.

            The status is 0 if the push service accepted it, 1 if not, 2 if the time of --wait-seconds was over first, \
            64 for options that do not fit together, 69 if no provider responded.
            """
        )
        .example("broadcast dGVzdC1jaGFubmVsLTAx --state score.json --app com.example.MyApp --wait")
        .example(
            """
            broadcast dGVzdC1jaGFubmVsLTAx --event end --state score.json --app com.example.MyApp \
            --credential AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ --service production
            """
        )

    /// The events of a Live Activity that a broadcast can cause.
    enum Event: String, CaseIterable, ExpressibleByArgument { case update, end }

    @OptionGroup var access: AppOptions
    @Argument(help: "The channel's id, in base64.") var channel: ChannelID
    @Option(help: "update or end.") var event: Event = .update
    @Option(help: "A file with the content state, a JSON object; '-' is standard input.") var state: String?
    @Option(help: "Title of an alert.") var title: String?
    @Option(help: "Text of an alert.") var body: String?
    @Option(help: "A file with the whole payload in JSON, instead of the above; '-' is standard input.")
    var payload: String?
    @Option(help: "\(BroadcastRequest.object["priority"].words).") var priority: Int?
    @Option(parsing: .unconditional, help: "apns-expiration: UNIX seconds, 0 for no storage.") var expiration: Int?
    @OptionGroup(title: "Through a provider") var provider: ProviderBroadcastOptions
    @OptionGroup(title: "Straight to a push service") var direct: ServiceCredentialOptions

    /// The options of a broadcast that is sent through a provider.
    struct ProviderBroadcastOptions: ParsableArguments {
        @Option(help: "A name by which to find it.") var name: String?
        @Option(help: "How long to try it, such as 10m, instead of --expiration.") var expiresIn: String?
        @Option(help: "sandbox or production, for a channel that the provider does not know.")
        var environment: PushEnvironment?
        @OptionGroup var sending: ProviderSendOptions

        var isGiven: Bool {
            self.name != nil || self.expiresIn != nil || self.environment != nil || self.sending.isGiven
        }
    }

    func validate() throws {
        let parts = [self.state, self.title, self.body]
        guard self.payload == nil || parts.allSatisfy({ $0 == nil }) && self.event == .update else {
            throw ValidationError("--payload is the whole payload: leave out --event, --state, --title and --body.")
        }
        guard self.payload != nil || self.state != nil || self.event == .end else {
            throw ValidationError("Give the state to show: --state, or --payload.")
        }
        guard self.direct.isGiven else { return }
        guard !self.provider.isGiven, self.access.provider.api.values.isEmpty else {
            let options = "--name, --expires-in, --environment, --wait, --idempotency-key, --server and --api-key"
            throw ValidationError("\(options) are for a provider: leave them out, or leave out --credential.")
        }
    }

    func run() async throws {
        let status = self.direct.isGiven ? try await self.sendDirectly() : try await self.sendThroughProvider()
        if status != .done { throw ExitCode(status.rawValue) }
    }

    private func sendThroughProvider() async throws -> ExitStatus {
        let body = try self.members()
        let connection = try await self.access.connection()
        let send = ProviderSend(connection, self.provider.sending, path: "broadcasts", json: self.access.json)
        return try await send.send(body)
    }

    /// Returns the JSON members of the request that sends the broadcast through a provider.
    func members() throws -> [String: JSONValue?] {
        var body: [String: JSONValue?] = [
            "channel": .string(self.channel.text), "name": self.provider.name?.json,
            "environment": self.provider.environment?.rawValue.json, "priority": self.priority?.json,
            "expiration": self.expiration?.json, "expiresIn": self.provider.expiresIn?.json,
        ]
        if let payload {
            body["payload"] = .object(try InputFile.object(payload, for: "--payload"))
        } else {
            let state = try self.contentState()
            body["liveActivity"] = .members(["event": .string(self.event.rawValue), "contentState": state])
            body["alert"] = self.alert
        }
        return body
    }

    private func sendDirectly() async throws -> ExitStatus {
        let settings = try await self.access.settings([self.direct.proxy, self.direct.passphrase])
        let destination = try DirectDestination(self.direct, settings: settings)
        let log = LogConfiguration(settings, defaultLevel: .warning)
        try settings.check()
        let broadcast = try self.broadcast(to: ServiceCredentialOptions.bundleID(settings, destination.credential))
        let sender = try Sender(
            to: destination.endpoint,
            credential: destination.credential,
            configuration: destination.configuration,
            logger: log.logger("sender")
        )
        let outcome = await sender.broadcast(broadcast)
        await sender.close()
        let text = OutcomeText(outcome)
        let own: [String: JSONValue?] = ["channel": .string(self.channel.text), "outcome": .string(text.kind)]
        let json = JSONValue.members(text.fields.merging(own) { $1 })
        try StandardOutput.result(self.access.json ? try json.line : text.sentence)
        if case .accepted = outcome { return .done }
        return .failed
    }

    private func broadcast(to bundleID: Topic) throws -> Broadcast {
        let priority = self.priority.map { UInt8(exactly: $0).flatMap(Priority.init(rawValue:)) } ?? .immediate
        guard let priority else { throw ValidationError("--priority is \(BroadcastRequest.object["priority"].words).") }
        let expiration = self.expiration.map { Expiration(header: String($0)) } ?? .immediate
        guard let expiration else { throw ValidationError("--expiration is a time in UNIX seconds, or 0.") }
        return Broadcast(
            to: self.channel,
            of: bundleID,
            priority: priority,
            expiration: expiration,
            payload: ByteBuffer(bytes: try self.payloadBytes())
        )
    }

    /// Returns the bytes of the file of `--payload` unchanged, or a payload that is built from the other options.
    /// - Throws: ``SettingsError`` for a file that cannot be used.
    private func payloadBytes() throws -> Data {
        if let payload { return try InputFile.data(payload, for: "--payload") }
        let aps: JSONValue = .members([
            "timestamp": .integer(Int64(Date().timeIntervalSince1970)), "event": .string(self.event.rawValue),
            "content-state": try self.contentState(), "alert": self.alert,
        ])
        return try JSONValue.object(["aps": aps]).text
    }

    private func contentState() throws -> JSONValue? {
        try self.state.map { .object(try InputFile.object($0, for: "--state")) }
    }

    private var alert: JSONValue? {
        guard self.title != nil || self.body != nil else { return nil }
        return .members(["title": self.title?.json, "body": self.body?.json])
    }
}
