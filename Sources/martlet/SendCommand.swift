import ArgumentParser
import Foundation

struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send a notification through a running provider.",
        discussion: """
            Exactly one of --token, --user, --tag or --all says to whom. The answer of the provider is printed as JSON; \
            with --wait the command ends only when every device has its outcome, with status 1 unless all were accepted.

            Example: martlet send --app com.example.MyApp --all --title Hello --body World --wait
            """
    )

    @OptionGroup var common: CommonOptions

    @Option(help: "The provider (send.server; default: http://127.0.0.1:8080).")
    var server: String?

    @Option(help: "API key with the scope send (send.apiKey); better given as MARTLET_SEND_API_KEY.")
    var apiKey: String?

    @Option(help: "The app's bundle id.")
    var app: String

    @OptionGroup(title: "To whom") var audience: AudienceOptions
    @OptionGroup(title: "Content") var content: ContentOptions

    @Option(help: "Repeat it to send the same notification only once; default: a new one for each call.")
    var idempotencyKey: String?

    @Flag(help: "Wait until every device has its outcome.")
    var wait = false

    @Option(help: "Seconds to wait at most.")
    var waitSeconds: Int = 60

    func run() async throws {
        let settings = try await self.common.settings([
            "send.server": self.server.setting(), "send.apiKey": self.apiKey.setting(),
        ])
        let server = settings.string("send.server", default: "http://127.0.0.1:8080")
        guard let apiKey = settings.secret("send.apiKey") else {
            throw ValidationError("Give an API key: set MARTLET_SEND_API_KEY.")
        }
        try settings.check()
        let body = try self.content.members().merging(["to": self.audience.value]) { $1 }
        let call = HTTPCall(baseURL: server, apiKey: apiKey)
        let answer = try await call(
            .post,
            "/v1/apps/\(self.app)/notifications",
            headers: [("idempotency-key", self.idempotencyKey ?? UUID().uuidString)],
            body: body
        )
        guard self.wait, let id = answer["id"] as? String else { return Self.show(answer) }
        let final = try await NotificationProgress(call: call, id: id).end(within: .seconds(self.waitSeconds))
        Self.show(final.answer)
        if !final.allAccepted { throw ExitCode.failure }
    }

    private static func show(_ answer: [String: Any]) {
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        let data = (try? JSONSerialization.data(withJSONObject: answer, options: options)) ?? Data()
        StandardOutput.line(String(decoding: data, as: UTF8.self))
    }
}
