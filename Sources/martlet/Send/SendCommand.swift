import ArgumentParser
import Logging
import ProviderModel
import PushSender
import PushSupport

/// `martlet send`: sends one notification.
struct SendCommand: AsyncParsableCommand {
    static let configuration = command("send")
        .help("Send a notification, through a running provider or directly to a push service.")
        .detail(
            """
            Through a provider, the options describe content and recipients; or a file has the whole request, with all \
            that docs/content.md describes, and options replace its members. The command prints the notification's \
            id; with --wait it ends only when every recipient has its outcome. It sends an idempotency key, so that \
            a request whose response was lost can be repeated and is still sent only once.

            With --credential it goes directly to Apple or a gateway, with the options under that heading. Failures and \
            the sums are printed.

            The status is 0 if every push was accepted, 1 if not, 2 if the time of --wait-seconds was over first, 3 if \
            nobody was reached, 64 for options that do not fit together, 69 if no provider responded.
            """
        )
        .example("send --app com.example.MyApp --all --title Hello --body World --wait")
        .example("send campaign.json --app com.example.MyApp --idempotency-key spring-2")
        .example(
            """
            send --credential AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ --service sandbox \
            --topic com.example.MyApp --tokens tokens.txt --title Hello
            """
        )

    @OptionGroup var access: AppOptions
    @Argument(help: "A file with the request to a provider as JSON; '-' is standard input.") var file: String?
    @OptionGroup(title: "Recipients") var target: TargetOptions
    @OptionGroup(title: "Content") var content: ContentOptions
    @OptionGroup(title: "Through a provider") var provider: ProviderSendOptions
    @OptionGroup(title: "Straight to a push service") var direct: DirectOptions

    func validate() throws {
        let targets = self.target.count + (self.direct.tokens == nil ? 0 : 1)
        guard targets <= 1 else {
            throw ValidationError("Give only one of --token, --tokens, --user, --tag and --all.")
        }
        guard targets == 1 || self.file != nil else {
            throw ValidationError("Name the recipients: --token, --tokens, --user, --tag or --all, or a file.")
        }
        guard self.direct.credential != nil else { return }
        guard self.file == nil else {
            throw ValidationError("A file is a request to a provider: with --credential use --payload and --tokens.")
        }
        guard self.direct.tokens != nil || !self.target.token.isEmpty else {
            throw ValidationError("Only a provider knows users, tags and all devices: give --token or --tokens.")
        }
        guard self.content.environment == nil, !self.provider.isGiven, self.access.provider.api.values.isEmpty else {
            let options = "--environment, --server, --api-key, --wait and --idempotency-key"
            throw ValidationError("\(options) are for a provider: leave them out, or leave out --credential.")
        }
        guard self.content.name == nil, self.content.expiresIn == nil else {
            throw ValidationError("--name and --expires-in are for a provider: leave them out, or --credential.")
        }
        guard self.content.consentCategory == nil, !self.content.encrypted else {
            let message = "--consent-category and --encrypted are for a provider: leave them out, or --credential."
            throw ValidationError(message)
        }
        guard self.direct.id == nil || self.target.token.count == 1 else {
            throw ValidationError("--id is for a single --token: every push needs an apns-id of its own.")
        }
        guard self.direct.tokens != "-" || self.content.payload != "-" else {
            throw ValidationError("Standard input can be the tokens or the payload, not both.")
        }
    }

    func run() async throws {
        let settings = try await self.access.settings([self.direct.proxy, self.direct.passphrase])
        let status =
            self.direct.credential == nil
            ? try await self.sendThroughProvider(settings) : try await self.sendDirectly(settings)
        if status != .done { throw ExitCode(status.rawValue) }
    }

    /// Sends the notification that the file and the options describe through a provider, and returns the exit status.
    private func sendThroughProvider(_ settings: SettingsReader) async throws -> ExitStatus {
        var body: [String: JSONValue?] = try self.file.map { try InputFile.object($0) } ?? [:]
        for (name, value) in try self.content.members() where value != nil { body[name] = value }
        if let target = self.target.json { body["to"] = target }
        let connection = try AppOptions.connection(settings)
        return try await ProviderSend(connection, self.provider, json: self.access.json).send(body)
    }

    /// Sends directly to a push service until every token has an outcome, and returns the exit status.
    private func sendDirectly(_ settings: SettingsReader) async throws -> ExitStatus {
        let destination = try DirectDestination(self.direct, settings: settings)
        let log = LogConfiguration(settings, defaultLevel: .warning)
        let app = settings.string(AppSettings.app)
        try settings.check()
        let push = try DirectPush(self.direct, content: self.content, app: app, credential: destination.credential)
        let tokens = try self.direct.tokens.map(TokenSource.init(file:)) ?? TokenSource(tokens: self.target.token)
        let total = self.direct.tokens.map(TokenSource.count(file:)) ?? self.target.token.count
        let sender = try Sender(
            to: destination.endpoint,
            credential: destination.credential,
            configuration: destination.configuration,
            logger: log.logger("sender")
        )
        let report = OutcomeReport(asJSON: self.access.json, total: total)
        let service = DirectSendService(sender: sender, push: push, tokens: tokens, report: report)
        try await ServiceRunner.run([], until: service, logger: log.logger("send"))
        return await service.status
    }
}

/// The options that specify the recipients of a notification.
struct TargetOptions: ParsableArguments {
    @Option(help: "A device token, hex or base64; repeat it for several.") var token: [String] = []
    @Option(help: "All devices of a user.") var user: String?
    @Option(help: "All devices with a tag.") var tag: String?
    @Flag(help: "All devices of the app.") var all = false

    /// The number of recipient options that were given. Repeated tokens count as one.
    var count: Int { [!self.token.isEmpty, self.user != nil, self.tag != nil, self.all].count { $0 } }

    /// The member `to` of the request, or `nil` if the options specify no recipients.
    var json: JSONValue? {
        if let tokens = JSONValue.texts(self.token) { return ["tokens": tokens] }
        if let user { return ["user": user.json] }
        if let tag { return ["tag": tag.json] }
        return self.all ? ["all": true] : nil
    }
}

/// The options for the content of a notification.
struct ContentOptions: ParsableArguments {
    private static let list = NotificationRequest.object

    @Option(help: "Title of the alert.") var title: String?
    @Option(help: "Subtitle of the alert.") var subtitle: String?
    @Option(help: "Text of the alert.") var body: String?
    @Option(parsing: .unconditional, help: "Number on the app's icon; 0 removes it.") var badge: Int?
    @Option(help: "Sound file in the app, or 'default'.") var sound: String?
    @Option(help: "A file with the whole payload in JSON, instead of the above; '-' is standard input.")
    var payload: String?
    @Option(help: "apns-push-type: \(Self.list["pushType"].words).") var pushType: String?
    @Option(parsing: .unconditional, help: "apns-priority: \(Self.list["priority"].words).") var priority: Int?
    @Option(parsing: .unconditional, help: "apns-expiration: UNIX seconds, 0 for one attempt.") var expiration: Int?
    @Option(help: "How long it is worth delivering, such as 6h, instead of --expiration.")
    var expiresIn: String?
    @Option(help: "A name by which to find the notification.") var name: String?
    @Option(help: "apns-collapse-id: a later notification with the same one replaces this one.") var collapseID: String?
    @Option(
        help: """
            \(Self.list["receipts"].words): the most detailed receipts that apps may send. Default: the app's setting.
            """
    )
    var receipts: String?
    @Option(help: "sandbox or production. Default: the devices of both.") var environment: String?

    @Option(help: "A consent category: people who have opted out of it are skipped.") var consentCategory: String?
    @Flag(help: "Encrypt the content to the key of each installation; those without one are skipped.")
    var encrypted = false

    private var presentation: [String: JSONValue?] {
        let alert = ["title": self.title?.json, "subtitle": self.subtitle?.json, "body": self.body?.json]
        return [
            "alert": alert.values.contains { $0 != nil } ? .members(alert) : nil, "badge": self.badge?.json,
            "sound": self.sound?.json,
        ]
    }

    /// Returns the JSON members of a request to a provider, without `to`.
    func members() throws -> [String: JSONValue?] {
        let other: [String: JSONValue?] = [
            "payload": try self.payload.map { .object(try InputFile.object($0, for: "--payload")) },
            "pushType": self.pushType?.json, "priority": self.priority?.json, "expiration": self.expiration?.json,
            "expiresIn": self.expiresIn?.json, "name": self.name?.json, "collapseId": self.collapseID?.json,
            "environment": self.environment?.json, "receipts": self.receipts?.json,
            "consentCategory": self.consentCategory?.json, "encrypted": self.encrypted ? true : nil,
        ]
        return self.presentation.merging(other) { $1 }
    }

    /// Returns the `aps` dictionary of a payload, or `nil` if it would be empty.
    /// - Parameter isBackground: Pass `true` to add `content-available`.
    func aps(isBackground: Bool) -> JSONValue? {
        let aps = self.presentation.merging(["content-available": isBackground ? .integer(1) : nil]) { $1 }
        return aps.values.contains { $0 != nil } ? .members(aps) : nil
    }
}
