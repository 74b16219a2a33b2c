import PushSupport
import PushTypes

/// Checks a payload for members that the push service would reject or a device would ignore (reference 1.6, 3).
///
/// A certain fault is an error, a probable mistake a warning.
struct PayloadLint {
    let pushType: PushType
    let priority: Priority
    /// `true` if the push updates a pass.
    let isWallet: Bool
    let names: FieldNames
    private(set) var warnings: [ContentWarning] = []

    /// - Throws: ``RequestError`` that names the member at fault.
    mutating func check(_ payload: [String: JSONValue]) throws(RequestError) {
        let aps: [String: JSONValue]
        switch payload["aps"] {
        case nil: aps = [:]
        case .object(let members): aps = members
        default: throw self.error(["aps"], "wrong_type", "it must be an object")
        }
        try self.checkTypes(aps)
        try self.checkAlert(aps)
        try self.checkSound(aps["sound"], at: ["aps", "sound"])
        try self.checkTogether(aps)
        try self.checkPushType(payload, aps)
        for name in payload.keys.sorted() where name != "aps" && Self.onlyInside.contains(name) {
            self.warn([name], "\(name) has a meaning inside aps only")
        }
    }

    /// Members whose place inside `aps` is so well known that they are not meant for the app.
    private static let onlyInside: Set<String> = [
        "alert", "badge", "sound", "content-available", "mutable-content", "interruption-level", "thread-id",
    ]

    /// Returns an error about a member of the payload.
    func error(_ path: [String], _ code: String, _ message: String) -> RequestError {
        RequestError(.invalid, code: code, message: message, path: self.names.name(path))
    }

    mutating func warn(_ path: [String], _ message: String) {
        self.warnings.append(ContentWarning(field: self.names.name(path), message: message))
    }

    private static func interruptionLevel(_ value: JSONValue) -> InterruptionLevel? {
        guard case .string(let name) = value else { return nil }
        return InterruptionLevel(rawValue: name)
    }

    private mutating func checkTogether(_ aps: [String: JSONValue]) throws(RequestError) {
        if let level = aps["interruption-level"], Self.interruptionLevel(level) == nil {
            let message = "use one of \(InterruptionLevel.allCases.map(\.rawValue).joined(separator: ", "))"
            throw self.error(["aps", "interruption-level"], "invalid_value", message)
        }
        if let score = aps["relevance-score"]?.double, self.pushType != .liveactivity, !(0...1).contains(score) {
            throw self.error(["aps", "relevance-score"], "invalid_value", "use 0 to 1")
        }
        if aps["mutable-content"] == .integer(1), !Self.hasText(aps["alert"]) {
            let message = "the app's extension runs for an alert with text only"
            throw self.error(["aps", "mutable-content"], "needs_alert", message)
        }
        if aps["content-available"] == .integer(1), self.pushType == .alert, self.priority == .immediate {
            self.warn(
                ["aps", "content-available"],
                "an alert of priority 10 may not wake the app: send a background push beside it"
            )
        }
    }

    /// Checks the rules of each push type (reference 1.6).
    private mutating func checkPushType(_ payload: [String: JSONValue], _ aps: [String: JSONValue]) throws(RequestError)
    {
        let isVisible = Self.hasText(aps["alert"]) || aps["badge"] != nil || aps["sound"] != nil
        switch self.pushType {
        case .alert where self.isWallet:
            guard payload.isEmpty
            else { throw self.error([], "not_empty", "the payload of an update of a pass is empty") }
        case .alert:
            guard isVisible else {
                let message = """
                    an alert push has alert, badge or sound in aps; to wake the app without showing anything, give \
                    contentAvailable true (content-available 1), which makes a background push
                    """
                throw self.error(["aps"], "not_visible", message)
            }
        case .background:
            guard !isVisible, aps["alert"] == nil, aps["content-available"] == .integer(1) else {
                let message = """
                    a background push has content-available 1 and no alert, badge or sound: leave those out, or send \
                    pushType alert
                    """
                throw self.error(["aps"], "not_background", message)
            }
        case .controls, .widgets:
            guard aps["content-changed"] == .bool(true) else {
                let message = "a push of type \(self.pushType.rawValue) has content-changed true"
                throw self.error(["aps", "content-changed"], "missing_field", message)
            }
        case .fileprovider:
            guard case .string(let text)? = payload["container-identifier"], !text.isEmpty else {
                let message = "a fileprovider push has the member container-identifier"
                throw self.error(["container-identifier"], "missing_field", message)
            }
        case .mdm:
            guard payload.count == 1, case .string(let magic)? = payload["mdm"], !magic.isEmpty else {
                let path = self.names.isRaw ? [] : ["mdm"]
                throw self.error(path, "not_mdm", "an mdm push has mdm, the device's PushMagic, and nothing else")
            }
        case .liveactivity: try self.checkLiveActivity(aps)
        case .complication, .location, .pushtotalk, .voip: break
        }
    }

    /// Returns `true` if an alert shows anything.
    static func hasText(_ alert: JSONValue?) -> Bool {
        switch alert {
        case .string(let text)?: !text.isEmpty
        case .object(let members)?:
            ["title", "subtitle", "body", "title-loc-key", "subtitle-loc-key", "loc-key"].contains {
                members[$0] != nil
            }
        default: false
        }
    }
}

extension JSONValue {
    /// The value as a number; `nil` for any other value.
    var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
}
