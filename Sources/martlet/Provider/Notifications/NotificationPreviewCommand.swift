import ArgumentParser
import PushSupport

/// `martlet notification preview`: shows the payload that a device would receive.
struct NotificationPreviewCommand: RequestCommand {
    static let configuration = command("preview")
        .help("Show what a device would get and how many devices would, without sending anything.")
        .example("notification preview campaign.json --app com.example.MyApp --device 00aa11…")

    @OptionGroup var access: AppOptions
    @OptionGroup var file: RequestFileArgument
    @Option(help: "The token of a registered device for which to render it.") var device: String?
    @Option(help: "The locale of a made-up device for which to render it.") var locale: String?
    @Option(help: "NAME=VALUE: an attribute of the made-up device; repeat it for several.")
    var attribute: [AttributeValue] = []

    func request() throws -> APIRequest {
        var body = try self.file.object
        body["device"] = self.device?.json
        let attributes = self.attribute.map { ($0.name, $0.value) }
        let subject = [
            "locale": self.locale?.json,
            "attributes": attributes.isEmpty ? nil : .object(Dictionary(attributes) { $1 }),
        ].compactMapValues { $0 }
        if !subject.isEmpty { body["subject"] = .object(subject) }
        return .post(ProviderNotification.path).action("preview").body(body)
    }

    func text(of response: JSONValue) throws -> String { try PreviewText.of(response) }
}

/// The argument that names a file with the request for a notification.
struct RequestFileArgument: ParsableArguments {
    @Argument(help: "A file with the request as JSON; '-' is standard input.") var file: String

    /// The JSON members of the request in the file. Reading it throws ``SettingsError`` for an invalid file.
    var object: [String: JSONValue] { get throws { try InputFile.object(self.file) } }
}

enum SkippedText {
    /// Returns a line for each reason why recipients are skipped, with their number.
    static func lines(_ response: JSONValue) -> [String] {
        response["skipped"].elements.map { group in
            "  \(group["count"].plainText) skipped: \(group["reason"].plainText.printable)"
        }
    }
}

enum PreviewText {
    /// Returns the text of a preview, with the number of recipients and the payload, and prints its warnings to
    /// standard error.
    static func of(_ response: JSONValue) throws -> String {
        self.warn(response)
        let columns: TextTable = [
            "recipients", "topic", .init("push type", "pushType"), "locale", "size", "limit", "problem",
        ]
        let payload = response["payload"] == .null ? "" : "\n\n\(try response["payload"].line.printable)"
        let encrypted = response["encryptedPayload"]
        let seen = encrypted == .null ? "" : "\n\nApple sees:\n\(try encrypted.line.printable)"
        return ([columns.details(of: response)] + SkippedText.lines(response)).joined(separator: "\n") + payload + seen
    }

    static func warn(_ response: JSONValue) {
        for warning in response["warnings"].elements {
            let text = "\(warning["field"].stringValue ?? ""): \(warning["message"].stringValue ?? "")"
            StandardError.line("warning: \(text.printable)")
        }
    }
}
