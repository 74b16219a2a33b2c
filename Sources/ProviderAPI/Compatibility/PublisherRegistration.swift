import ProviderModel
import PushHTTP
import PushSupport
import PushTypes

/// Converts the publisher's registration form (APNs reference 10.1) to the registration of a device. The field `devId`
/// becomes the installation id, so that a changed token replaces the old one. `accountId`, the screen size and
/// `newsstand` become attributes, by which audiences can select devices. Attributes are merged with those of the
/// device, whereas tags would replace all of its tags.
enum PublisherRegistration {
    private static let capabilities: [String: DeviceCapabilities] = [
        "alertEnabled": .alert, "badgeEnabled": .badge, "newsstandEnabled": .newsstand, "soundEnabled": .sound,
    ]
    private static let known: Set<String> = Set(capabilities.keys.map { $0.lowercased() })
        .union(["devid", "token", "accountid", "environment"])

    static func registration(_ form: FormData) throws(RequestError) -> DeviceRegistration {
        var registration = try FormDevice.registration(form, token: form["token"])
        registration.installation = try form.text("devId", maximum: Member.maximumText)
        if let account = try form.text("accountId", maximum: Member.maximumText) {
            registration.attributes[DeviceRequest.accountAttribute] = .set(.string(account))
        }
        if let size = Self.screenSize(form) { registration.attributes["screenSize"] = .set(.string(size)) }
        if let capabilities = Self.capabilities(form) {
            registration.capabilities = capabilities
            registration.attributes[DeviceRequest.newsstandAttribute] = .set(.bool(capabilities.contains(.newsstand)))
        }
        return registration
    }

    /// Returns the capabilities whose field in the form is not 0, or `nil` if the form has no field for capabilities.
    private static func capabilities(_ form: FormData) -> DeviceCapabilities? {
        let given = Self.capabilities.filter { form[$0.key] != nil }
        guard !given.isEmpty else { return nil }
        return given.filter { form[$0.key] != "0" }.values.reduce([]) { $0.union($1) }
    }

    /// Returns the screen size, or `nil` if there is none. The reference does not name the field, so the size is the
    /// first value in the form 1024x768 among the unknown fields.
    private static func screenSize(_ form: FormData) -> String? {
        form.fields.first { !Self.known.contains($0.name.lowercased()) && Self.isSize($0.value) }?.value.lowercased()
    }

    /// Returns whether `text` consists of two numbers of 3 to 5 digits with an `x` between them.
    private static func isSize(_ text: String) -> Bool { text.wholeMatch(of: #/[0-9]{3,5}[xX][0-9]{3,5}/#) != nil }
}

/// The fields that the registration forms of older systems have in common.
enum FormDevice {
    /// Returns a registration of an alert token with the token and the environment of a form. The default environment
    /// is production.
    /// - Throws: ``RequestError`` that names the form's field, such as `token` if `text` is missing or not a token.
    static func registration(_ form: FormData, token text: String?) throws(RequestError) -> DeviceRegistration {
        guard let text, !text.isEmpty else {
            throw FormData.error("missing_field", "a device token is required", field: "token")
        }
        guard let token = Self.token(text) else {
            throw FormData.error("invalid_token", "a device token is base64 or hex, 1 to 512 bytes", field: "token")
        }
        var registration = DeviceRegistration(environment: try Self.environment(form), token: token)
        // The systems that post these forms know alert tokens only.
        registration.kind = .alert
        return registration
    }

    /// Parses a device token in hexadecimal or base64. Returns `nil` for any other text. A plus sign that was not
    /// percent-encoded arrives as a space.
    private static func token(_ text: String) -> DeviceToken? {
        guard text.utf8.count <= DeviceToken.maximumLength * 4 else { return nil }
        let stripped = text.filter { !"<> \t\r\n".contains($0) }
        if let token = DeviceToken(hex: stripped) { return token }
        return DeviceToken(userInput: String(text.map { $0 == " " ? "+" : $0 }))
    }

    /// Parses the field `environment`: the name of an environment, or `distribution` or `developer` as in the
    /// publisher's dashboard. An absent field means production.
    /// - Throws: ``RequestError`` for any other name.
    private static func environment(_ form: FormData) throws(RequestError) -> PushEnvironment {
        guard let text = form["environment"]?.lowercased(), !text.isEmpty else { return .production }
        let names = ["distribution": "production", "developer": "sandbox"]
        guard let environment = PushEnvironment(named: names[text] ?? text) else { throw .invalidEnvironment() }
        return environment
    }
}
