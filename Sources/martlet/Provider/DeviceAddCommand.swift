import ArgumentParser
import PushSupport
import PushTypes

struct DeviceAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Register a device, or change one: what is left out stays as it was.",
        discussion: """
            Example: martlet device add 00aa11… --app com.example.MyApp --environment sandbox --user alice --tag beta \
            --attribute plan=gold
            """
    )

    @OptionGroup var access: AppAccess
    @OptionGroup var token: TokenArgument

    @Option(help: "sandbox or production. Default: production.")
    var environment: PushEnvironment?

    @Option(help: "The user whose device it is.")
    var user: String?

    @Option(help: "Such as de-AT.")
    var locale: String?

    @Option(help: "Such as Europe/Berlin.")
    var timeZone: String?

    @Option(help: "Such as 3.1.4.")
    var appVersion: String?

    @Option(help: "With it, a changed token replaces the old one.")
    var installation: String?

    @Option(help: "A tag; repeat it for several. They are all that the device has from now on.")
    var tag: [String] = []

    @Option(help: "NAME=VALUE; repeat it for several. NAME= removes it.")
    var attribute: [AttributeValue] = []

    func run() async throws {
        let attributes = self.attribute.map { ($0.name, $0.value == .string("") ? JSONValue.null : $0.value) }
        let body: [String: JSONValue?] = [
            "token": .string(try self.token.hex), "environment": self.environment.map { .string($0.rawValue) },
            "user": self.user.map(JSONValue.string), "locale": self.locale.map(JSONValue.string),
            "timeZone": self.timeZone.map(JSONValue.string), "appVersion": self.appVersion.map(JSONValue.string),
            "installation": self.installation.map(JSONValue.string),
            "tags": self.tag.isEmpty ? nil : .array(self.tag.map(JSONValue.string)),
            "attributes": attributes.isEmpty ? nil : .object(Dictionary(attributes) { $1 }),
        ]
        try await self.access.show(.post, ["devices"], body: body) { TextTable.details(DeviceColumns.all, $0) }
    }
}

/// A device attribute as options give it.
struct AttributeValue: ExpressibleByArgument, Hashable, Sendable {
    let name: String
    /// A number or `true` and `false` where the text is one; quotation marks around it make it a text.
    let value: JSONValue

    init?(argument: String) {
        guard let equals = argument.firstIndex(of: "="), equals > argument.startIndex else { return nil }
        self.name = String(argument[..<equals])
        self.value = Self.value(argument[argument.index(after: equals)...])
    }

    private static func value(_ text: Substring) -> JSONValue {
        if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") {
            return .string(String(text.dropFirst().dropLast()))
        }
        switch text {
        case "true": return .bool(true)
        case "false": return .bool(false)
        default: break
        }
        if let whole = Int64(text) { return .integer(whole) }
        // Names such as "nan" and "infinity" are numbers to Swift.
        if text.first.map({ $0.isNumber || $0 == "-" }) == true, let number = Double(text), number.isFinite {
            return .number(number)
        }
        return .string(String(text))
    }
}
