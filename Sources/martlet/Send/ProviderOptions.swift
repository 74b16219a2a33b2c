import ArgumentParser
import Foundation

/// Sending through a running provider.
struct ProviderOptions: ParsableArguments {
    @Option(help: "The provider (send.server or api.server; default: http://127.0.0.1:8080).")
    var server: String?

    @Option(help: "API key with the scope send (send.apiKey); better given as MARTLET_SEND_API_KEY.")
    var apiKey: String?

    @Option(help: "Repeat it to send the same notification only once; default: a new one for each call.")
    var idempotencyKey: String?

    @Flag(help: "Wait until every device has its outcome.")
    var wait = false

    @Option(help: "Seconds to wait at most.")
    var waitSeconds: Int = 60

    /// Whether all were accepted, as far as the command waits for it.
    func send(
        _ content: ContentOptions,
        to audience: AudienceOptions,
        app: String,
        settings: Settings
    ) async throws -> Bool {
        let server =
            settings.string("send.server") ?? settings.string("api.server", default: ProviderAccess.defaultServer)
        guard let apiKey = settings.secret("send.apiKey") ?? settings.secret("api.key") else {
            throw ValidationError("Give an API key: set MARTLET_SEND_API_KEY or MARTLET_API_KEY.")
        }
        try settings.check()
        let body = try content.members().merging(["to": audience.value]) { $1 }
        let call = HTTPCall(baseURL: server, apiKey: apiKey)
        let answer = try await call(
            .post,
            "/v1/apps/\(app)/notifications",
            headers: [("idempotency-key", self.idempotencyKey ?? UUID().uuidString)],
            body: body
        )
        guard self.wait, let id = answer["id"] as? String else {
            Self.show(answer)
            return true
        }
        let final = try await NotificationProgress(call: call, id: id).end(within: .seconds(self.waitSeconds))
        Self.show(final.answer)
        return final.allAccepted
    }

    private static func show(_ answer: [String: Any]) {
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        let data = (try? JSONSerialization.data(withJSONObject: answer, options: options)) ?? Data()
        StandardOutput.line(String(decoding: data, as: UTF8.self))
    }
}
