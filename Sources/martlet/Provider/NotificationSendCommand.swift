import ArgumentParser
import Foundation
import PushSupport

struct NotificationSendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send what a file says.",
        discussion: """
            Prints the notification's id; 'martlet notification watch' follows it.

            Example: martlet notification send campaign.json --app com.example.MyApp --idempotency-key spring-2
            """
    )

    @OptionGroup var access: AppAccess

    @Argument(help: "A file with the request as JSON; '-' is standard input.")
    var file: String

    @Option(help: "Repeat it to send the same notification only once; default: a new one for each call.")
    var idempotencyKey: String?

    func run() async throws {
        let body = try RequestFile.object(self.file)
        let (app, settings) = try await self.access.named()
        let call = try self.access.provider.call(settings)
        let request = APIRequest(.post, ["apps", app, "notifications"], body: body)
        let answer = try await ProviderAccess.answer(
            request,
            from: call,
            headers: [("idempotency-key", self.idempotencyKey ?? UUID().uuidString)]
        )
        PreviewText.warn(answer)
        try self.access.provider.print(answer) { $0["id"].stringValue ?? "" }
    }
}

struct NotificationPreviewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Show what a device would get and how many would, without sending anything.",
        discussion: """
            Example: martlet notification preview campaign.json --app com.example.MyApp --device 00aa11…
            """
    )

    @OptionGroup var access: AppAccess

    @Argument(help: "A file with the request as JSON; '-' is standard input.")
    var file: String

    @Option(help: "The token of a registered device that it is rendered for.")
    var device: String?

    @Option(help: "The locale of a made-up device that it is rendered for.")
    var locale: String?

    @Option(help: "NAME=VALUE: an attribute of the made-up device; repeat it for several.")
    var attribute: [AttributeValue] = []

    func run() async throws {
        var body = try RequestFile.object(self.file)
        body["device"] = self.device.map(JSONValue.string)
        var subject: [String: JSONValue] = [:]
        subject["locale"] = self.locale.map(JSONValue.string)
        if !self.attribute.isEmpty {
            subject["attributes"] = .object(Dictionary(self.attribute.map { ($0.name, $0.value) }) { $1 })
        }
        if !subject.isEmpty { body["subject"] = .object(subject) }
        try await self.access.show(.post, ["notifications"], action: "preview", body: body, PreviewText.of)
    }
}

/// What a rehearsal came to.
enum PreviewText {
    static func of(_ answer: JSONValue) throws -> String {
        self.warn(answer)
        let columns: [TextTable.Column] = [
            .init("recipients", "recipients"), .init("topic", "topic"), .init("push type", "pushType"),
            .init("locale", "locale"), .init("size", "size"), .init("limit", "limit"), .init("problem", "problem"),
        ]
        let payload = answer["payload"] == .null ? "" : "\n\n\(try answer["payload"].line.printable)"
        return TextTable.details(columns, answer) + payload
    }

    /// Tells what is allowed and probably not meant, beside the result.
    static func warn(_ answer: JSONValue) {
        for warning in answer["warnings"].elements {
            let text = "\(warning["field"].stringValue ?? ""): \(warning["message"].stringValue ?? "")"
            StandardError.line("warning: \(text.printable)")
        }
    }
}
