import PushTypes

/// A dialect of the ad-hoc commands (XEP-0050) with which clients register themselves.
enum RegistrationDialect: String, Hashable, Sendable, CaseIterable {
    /// The dialect of Conversations' push proxy and similar ones. A device has an id, and keeps its node and secret.
    case p2
    /// The dialect of Tigase's component and its clients. It has no secret, because the node's name serves as one.
    case tigase

    var registerCommand: String {
        switch self {
        case .p2: "register-push-apns"
        case .tigase: "register-device"
        }
    }

    var unregisterCommand: String {
        switch self {
        case .p2: "unregister-push-apns"
        case .tigase: "unregister-device"
        }
    }

    /// The service discovery features by which clients recognize that the component supports the dialect.
    var features: [String] {
        switch self {
        case .p2: []
        case .tigase: [Self.tigaseProvider]
        }
    }

    /// Returns the empty form that a client fills in to register, or to unregister if `isRegistration` is `false`.
    func form(isRegistration: Bool) -> DataForm {
        switch self {
        case .p2: DataForm(isRegistration ? ["token": "", "device-id": ""] : ["device-id": ""])
        case .tigase: DataForm(["provider": Self.tigaseProvider, "device-token": ""])
        }
    }

    fileprivate static let tigaseProvider = "tigase:messenger:apns:1"
}

/// A command with which a client registers itself or removes its registration.
struct RegistrationCommand: Hashable, Sendable {
    /// The maximum length of a device's id, in bytes. A command with a longer one is an error.
    static let maximumDeviceID = 256
    /// The minimum length of a device token, in bytes. A command with a shorter one is an error.
    static let minimumToken = 8

    enum Action: Hashable, Sendable {
        case register(DeviceToken)
        case unregister
    }

    var dialect: RegistrationDialect
    /// The id of the device, which is unique among the devices of its user.
    var device: String
    var action: Action
    var node: String

    enum Reading: Hashable, Sendable {
        case command(RegistrationCommand)
        /// An immediate reply to the command, such as the empty form or an error.
        case answer(StanzaResponse)
    }

    static func read(_ element: XMLElement, _ dialects: Set<RegistrationDialect>) -> Reading {
        guard let node = element["node"],
            let dialect = dialects.first(where: { $0.registerCommand == node || $0.unregisterCommand == node })
        else { return .answer(.error(.itemNotFound)) }
        let isRegistration = node == dialect.registerCommand
        switch element["action"] ?? "execute" {
        case "execute", "complete", "next": break
        case "cancel": return .answer(.result(Self.element(node, status: "canceled")))
        default: return .answer(.error(.badRequest))
        }
        guard let form = DataForm(element.child("x", ComponentNamespace.form)) else {
            let form = dialect.form(isRegistration: isRegistration).element(type: "form")
            return .answer(.result(Self.element(node, status: "executing", form)))
        }
        guard let (device, token) = Self.device(form, dialect), !isRegistration || token != nil else {
            return .answer(.error(.badRequest))
        }
        let action = if isRegistration, let token { Action.register(token) } else { Action.unregister }
        return .command(RegistrationCommand(dialect: dialect, device: device, action: action, node: node))
    }

    /// Returns the device id and the token that a form contains, or `nil` if the form is incomplete. The token is `nil`
    /// if a form without one suffices, as for the removal of a registration.
    private static func device(_ form: DataForm, _ dialect: RegistrationDialect) -> (String, DeviceToken?)? {
        func token(_ name: String) -> DeviceToken? {
            form[name].flatMap { DeviceToken(userInput: $0) }.flatMap { $0.bytes.count >= self.minimumToken ? $0 : nil }
        }
        switch dialect {
        case .p2:
            guard let device = form["device-id"], (1...self.maximumDeviceID).contains(device.utf8.count) else {
                return nil
            }
            return (device, token("token"))
        case .tigase:
            guard form["provider"] == RegistrationDialect.tigaseProvider, let token = token("device-token") else {
                return nil
            }
            return (token.hex, token)
        }
    }

    func completed(_ fields: [String: String] = [:]) -> XMLElement {
        Self.element(self.node, status: "completed", fields.isEmpty ? nil : DataForm(fields).element(type: "result"))
    }

    private static func element(_ node: String, status: String, _ form: XMLElement? = nil) -> XMLElement {
        XMLElement(
            "command",
            namespace: ComponentNamespace.commands,
            // Each command is a single request, so no session can be continued.
            attributes: ["node": node, "status": status, "sessionid": "1"],
            children: form.map { [$0] } ?? []
        )
    }
}

/// The fields of a data form (XEP-0004), each with its first value.
struct DataForm: Hashable, Sendable {
    var fields: [String: String] = [:]

    init(_ fields: [String: String] = [:]) { self.fields = fields }

    /// Parses a form. Returns `nil` for any other element.
    init?(_ element: XMLElement?) {
        guard let element, element.has("x", ComponentNamespace.form) else { return nil }
        for field in element.children("field", ComponentNamespace.form) {
            guard let name = field["var"], self.fields[name] == nil else { continue }
            self.fields[name] = field.child("value", ComponentNamespace.form)?.text ?? ""
        }
    }

    subscript(name: String) -> String? { self.fields[name] }

    /// Returns the form as an XML element. `type` is `form`, `submit` or `result`.
    func element(type: String) -> XMLElement {
        let fields = self.fields.sorted { $0.key < $1.key }.map { name, value in
            let value = XMLElement("value", namespace: ComponentNamespace.form, text: value)
            return XMLElement("field", namespace: ComponentNamespace.form, attributes: ["var": name], children: [value])
        }
        return XMLElement("x", namespace: ComponentNamespace.form, attributes: ["type": type], children: fields)
    }
}
