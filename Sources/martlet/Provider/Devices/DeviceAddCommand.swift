import ArgumentParser
import PushSupport
import PushTypes

/// `martlet device add`: registers a device.
struct DeviceAddCommand: ResourceCommand {
    static let configuration = command("add", "Register a device, or change one: what is left out stays as it was.")
        .example(
            """
            device add 00aa11… --app com.example.MyApp --environment sandbox --user alice --tag beta \
            --attribute plan=gold
            """
        )

    @OptionGroup var resource: ResourceOptions<RegisteredDevice>
    @Option(help: "sandbox or production. Default: production.") var environment: PushEnvironment?
    @Option(help: "What the token is for, such as voip or liveActivityUpdate. Default: alert.") var kind:
        DeviceTokenKind?
    @Option(help: "The app's id of the Live Activity to which an update token belongs.") var activity: String?
    @Option(help: "The user whose device it is.") var user: String?
    @Option(help: "The locale, such as de-AT.") var locale: String?
    @Option(help: "The time zone, such as Europe/Berlin.") var timeZone: String?
    @Option(help: "The version of the app, such as 3.1.4.") var appVersion: String?
    @Option(help: "The installation, whose tokens share user and tags; a new token replaces that of its kind.")
    var installation: String?
    @Option(help: "A tag; repeat it for several. They replace all earlier tags of the device.") var tag: [String] = []
    @Option(help: "NAME=VALUE; repeat it for several. NAME= removes it.") var attribute: [AttributeValue] = []

    @OptionGroup var preferences: PreferenceOptions

    func request() -> APIRequest {
        let attributes = self.attribute.map { ($0.name, $0.value == "" ? JSONValue.null : $0.value) }
        return .post(RegisteredDevice.path).body([
            "token": self.resource.id.hex.json, "environment": self.environment?.rawValue.json,
            "kind": self.kind?.rawValue.json, "activity": self.activity?.json, "user": self.user?.json,
            "locale": self.locale?.json, "timeZone": self.timeZone?.json, "appVersion": self.appVersion?.json,
            "installation": self.installation?.json, "tags": .texts(self.tag),
            "attributes": attributes.isEmpty ? nil : .object(Dictionary(attributes) { $1 }),
            "preferences": self.preferences.json.map { .members($0) },
        ])
    }

    func text(of response: JSONValue) -> String {
        [RegisteredDevice.allColumns.details(of: response), response.pushesUnderWay].compactMap { $0 }
            .joined(separator: "\n")
    }
}

/// The value of the option for an attribute, in the form `NAME=VALUE`.
struct AttributeValue: ExpressibleByArgument, Hashable, Sendable {
    let name: String
    /// The value of the attribute. Text in quotation marks is always a string.
    let value: JSONValue

    /// Parses NAME=VALUE. Returns `nil` for any other argument.
    init?(argument: String) {
        guard let equals = argument.firstIndex(of: "="), equals > argument.startIndex else { return nil }
        self.name = String(argument[..<equals])
        self.value = Self.value(argument[argument.index(after: equals)...])
    }

    /// Parses the value: a Boolean, a number, or otherwise a string.
    private static func value(_ text: Substring) -> JSONValue {
        if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") {
            return .string(String(text.dropFirst().dropLast()))
        }
        if let flag = Bool(String(text)) { return .bool(flag) }
        if let whole = Int64(text) { return .integer(whole) }
        // Names such as "nan" and "infinity" are numbers to Swift.
        if text.first.map({ $0.isNumber || $0 == "-" }) == true, let number = Double(text), number.isFinite {
            return .number(number)
        }
        return .string(String(text))
    }
}
