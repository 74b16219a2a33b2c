import PushSupport
import PushTypes

/// Says what the push service would refuse or a device would ignore in a payload, as it is sent (reference 1.6, 3).
/// A fault that is certain is a refusal, what is probably not meant a warning.
struct PayloadLint {
    let pushType: PushType
    let priority: Priority
    /// The payload tells a pass that it has changed.
    let isWallet: Bool
    let names: FieldNames
    private(set) var warnings: [ContentWarning] = []

    init(pushType: PushType, priority: Priority, isWallet: Bool, names: FieldNames) {
        self.pushType = pushType
        self.priority = priority
        self.isWallet = isWallet
        self.names = names
    }

    /// - Throws: ``RequestError`` that names the member at fault.
    mutating func check(_ payload: [String: JSONValue]) throws(RequestError) {
        let aps: [String: JSONValue]
        switch payload["aps"] {
        case nil: aps = [:]
        case .object(let members): aps = members
        default: throw self.refusal(["aps"], "wrong_type", "it must be an object")
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

    /// Members whose place is so well known that they are not meant for the app.
    private static let onlyInside: Set<String> = [
        "alert", "badge", "sound", "content-available", "mutable-content", "interruption-level", "thread-id",
    ]

    func refusal(_ path: [String], _ code: String, _ message: String) -> RequestError {
        RequestError(.invalid, code: code, message: message, path: self.names.name(path))
    }

    mutating func warn(_ path: [String], _ message: String) {
        self.warnings.append(ContentWarning(field: self.names.name(path), message: message))
    }

    private mutating func checkTogether(_ aps: [String: JSONValue]) throws(RequestError) {
        if let level = aps["interruption-level"],
            !["passive", "active", "time-sensitive", "critical"].map(JSONValue.string).contains(level)
        {
            let message = "use passive, active, time-sensitive or critical"
            throw self.refusal(["aps", "interruption-level"], "invalid_value", message)
        }
        if let score = aps["relevance-score"]?.double, self.pushType != .liveactivity, !(0...1).contains(score) {
            throw self.refusal(["aps", "relevance-score"], "invalid_value", "use 0 to 1")
        }
        if aps["mutable-content"] == .integer(1), !Self.hasText(aps["alert"]) {
            let message = "the app's extension runs for an alert with text only"
            throw self.refusal(["aps", "mutable-content"], "needs_alert", message)
        }
        if aps["content-available"] == .integer(1), self.pushType == .alert, self.priority == .immediate {
            self.warn(
                ["aps", "content-available"],
                "an alert of priority 10 may not wake the app: send a background push beside it"
            )
        }
    }

    /// What each push type asks for (reference 1.6).
    private mutating func checkPushType(_ payload: [String: JSONValue], _ aps: [String: JSONValue]) throws(RequestError)
    {
        let isVisible = Self.hasText(aps["alert"]) || aps["badge"] != nil || aps["sound"] != nil
        switch self.pushType {
        case .alert where self.isWallet:
            guard payload.isEmpty else { throw self.refusal([], "not_empty", "a pass gets an empty payload") }
        case .alert:
            guard isVisible else {
                throw self.refusal(["aps"], "not_visible", "an alert push has alert, badge or sound in aps")
            }
        case .background:
            guard !isVisible, aps["alert"] == nil, aps["content-available"] == .integer(1) else {
                let message = "a background push has content-available 1 and no alert, badge or sound"
                throw self.refusal(["aps"], "not_background", message)
            }
        case .controls, .widgets:
            guard aps["content-changed"] == .bool(true) else {
                let message = "a push of type \(self.pushType.rawValue) has content-changed true"
                throw self.refusal(["aps", "content-changed"], "missing_field", message)
            }
        case .fileprovider:
            guard case .string(let text)? = payload["container-identifier"], !text.isEmpty else {
                let message = "a fileprovider push names the container-identifier"
                throw self.refusal(["container-identifier"], "missing_field", message)
            }
        case .mdm:
            guard payload.count == 1, case .string(let magic)? = payload["mdm"], !magic.isEmpty else {
                let path = self.names.isRaw ? [] : ["mdm"]
                throw self.refusal(path, "not_mdm", "an mdm push has mdm, the device's PushMagic, and nothing else")
            }
        case .liveactivity: try self.checkLiveActivity(aps)
        case .complication, .location, .pushtotalk, .voip: break
        }
    }

    /// Whether an alert shows anything.
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
    /// A number of either kind.
    var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
}
