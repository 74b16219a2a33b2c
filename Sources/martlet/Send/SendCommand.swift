import ArgumentParser
import Foundation
import Logging
import PushSender

struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send a notification, through a running provider or straight to a push service.",
        discussion: """
            Exactly one of --token, --tokens, --user, --tag and --all says to whom.

            Through a provider the answer is printed as JSON; with --wait the command ends only when every device has \
            its outcome. With --credential it goes straight to Apple or a gateway: failures and a sum are printed, or \
            one JSON line per outcome where the output is no terminal. The status is 0 if every push was accepted, 1 \
            if not, 64 for options that make no sense.

            martlet send --app com.example.MyApp --all --title Hello --body World --wait
            martlet send --credential AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ --service sandbox \
            --topic com.example.MyApp --tokens tokens.txt --title Hello
            """
    )

    @OptionGroup var common: CommonOptions

    @Option(help: "The app's bundle id.")
    var app: String?

    @OptionGroup(title: "To whom") var audience: AudienceOptions
    @OptionGroup(title: "Content") var content: ContentOptions
    @OptionGroup(title: "Through a provider") var provider: ProviderOptions
    @OptionGroup(title: "Straight to a push service") var direct: DirectOptions

    func validate() throws {
        let tokenCount = self.audience.token.count
        let given = [
            tokenCount > 0, self.direct.tokens != nil, self.audience.user != nil, self.audience.tag != nil,
            self.audience.all,
        ]
        guard given.count(where: { $0 }) == 1 else {
            throw ValidationError("Give exactly one of --token, --tokens, --user, --tag and --all.")
        }
        if self.direct.credential == nil {
            guard self.app != nil else {
                throw ValidationError("Give --app, or --credential to send without a provider.")
            }
            return
        }
        guard tokenCount > 0 || self.direct.tokens != nil else {
            throw ValidationError("Only a provider knows users, tags and all devices: give --token or --tokens.")
        }
        guard self.content.environment == nil, self.provider.server == nil, !self.provider.wait,
            self.provider.idempotencyKey == nil
        else {
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
        let settings = try await self.common.settings([
            "send.server": self.provider.server.setting(), "send.apiKey": self.provider.apiKey.setting(),
            "send.passphrase": self.direct.passphrase.setting(), "send.proxy": self.direct.proxy.setting(),
        ])
        let allAccepted =
            self.direct.credential == nil
            ? try await self.provider.send(self.content, to: self.audience, app: self.app ?? "", settings: settings)
            : try await self.sendDirectly(settings)
        if !allAccepted { throw ExitCode.failure }
    }

    private func sendDirectly(_ settings: Settings) async throws -> Bool {
        let target = try DirectTarget(self.direct, settings: settings)
        let log = LogSetup(settings, defaultLevel: .warning)
        try settings.check()
        let push = try DirectPush(
            self.direct,
            content: self.content,
            app: self.app,
            credential: target.credential
        )
        let tokens =
            if let file = self.direct.tokens { try TokenSource(file: file) } else {
                TokenSource(tokens: self.audience.token)
            }
        let total = self.direct.tokens.map(TokenSource.count(file:)) ?? self.audience.token.count
        let sender = try Sender(
            to: target.endpoint,
            credential: target.credential,
            configuration: target.configuration,
            logger: log.logger("sender")
        )
        let run = DirectSend(
            sender: sender,
            push: push,
            tokens: tokens,
            report: OutcomeReport(asJSON: self.direct.json, total: total)
        )
        try await ServiceRun.run([], endsWith: run, logger: log.logger("send"))
        return await run.allAccepted
    }
}
