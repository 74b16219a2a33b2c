import ArgumentParser
import Foundation
import Logging
import PushSender

/// `martlet send`: sends one notification.
struct SendCommand: AsyncParsableCommand {
    static let configuration = command("send")
        .help("Send a notification, through a running provider or straight to a push service.")
        .detail(
            """
            Exactly one of --token, --tokens, --user, --tag and --all names the recipients.

            Through a provider the response is printed as JSON; with --wait the command ends only when every device has \
            its outcome. With --credential it goes straight to Apple or a gateway: failures and a sum are printed, or \
            one JSON line per outcome where the output is not a terminal. The status is 0 if every push was accepted, 1 \
            if not, 64 for options that do not fit together.

            martlet send --app com.example.MyApp --all --title Hello --body World --wait
            martlet send --credential AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ --service sandbox \
            --topic com.example.MyApp --tokens tokens.txt --title Hello
            """
        )

    @OptionGroup var common: CommonOptions
    @Option(help: "The app's bundle id.") var app: String?
    @OptionGroup(title: "Recipients") var target: TargetOptions
    @OptionGroup(title: "Content") var content: ContentOptions
    @OptionGroup(title: "Through a provider") var provider: ProviderDeliveryOptions
    @OptionGroup(title: "Straight to a push service") var direct: DirectOptions

    func validate() throws {
        let tokenCount = self.target.token.count
        let given = [
            tokenCount > 0, self.direct.tokens != nil, self.target.user != nil, self.target.tag != nil, self.target.all,
        ]
        guard given.count(where: { $0 }) == 1 else {
            throw ValidationError("Give exactly one of --token, --tokens, --user, --tag and --all.")
        }
        if self.direct.credential == nil {
            if self.app != nil { return }
            throw ValidationError("Give --app, or --credential to send without a provider.")
        }
        guard tokenCount > 0 || self.direct.tokens != nil else {
            throw ValidationError("Only a provider knows users, tags and all devices: give --token or --tokens.")
        }
        guard self.content.environment == nil, !self.provider.isGiven else {
            throw ValidationError("--environment, --server, --wait and --idempotency-key are for a provider.")
        }
        guard self.direct.id == nil || tokenCount == 1 else {
            throw ValidationError("--id is for a single --token: every push needs an apns-id of its own.")
        }
        guard self.direct.tokens != "-" || self.content.payload != "-" else {
            throw ValidationError("Standard input can be the tokens or the payload, not both.")
        }
    }

    func run() async throws {
        let settings = try await self.common.settings([self.provider.flags, self.direct.flags])
        let allAccepted =
            self.direct.credential == nil
            ? try await self.provider.send(self.content, to: self.target, app: self.app ?? "", settings: settings)
            : try await self.sendDirectly(settings)
        if !allAccepted { throw ExitCode.failure }
    }

    /// Sends without a provider, until every token has its outcome.
    private func sendDirectly(_ settings: SettingsReader) async throws -> Bool {
        let destination = try DirectDestination(self.direct, settings: settings)
        let log = LogConfiguration(settings, defaultLevel: .warning)
        try settings.check()
        let push = try DirectPush(self.direct, content: self.content, app: self.app, credential: destination.credential)
        let tokens = try self.direct.tokens.map(TokenSource.init(file:)) ?? TokenSource(tokens: self.target.token)
        let total = self.direct.tokens.map(TokenSource.count(file:)) ?? self.target.token.count
        let sender = try Sender(
            to: destination.endpoint,
            credential: destination.credential,
            configuration: destination.configuration,
            logger: log.logger("sender")
        )
        let report = OutcomeReport(asJSON: self.direct.json, total: total)
        let service = DirectSendService(sender: sender, push: push, tokens: tokens, report: report)
        try await ServiceRunner.run([], until: service, logger: log.logger("send"))
        return await service.allAccepted
    }
}
