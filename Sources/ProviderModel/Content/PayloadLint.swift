import PushSupport
import PushTypes

/// Checks a payload for members that the push service would reject or a device would ignore (reference 1.6, 3).
///
/// A certain fault is an error, and a probable mistake is a warning.
struct PayloadLint {
    let pushType: PushType
    let priority: Priority
    let isWallet: Bool
    let names: FieldNames
    private(set) var warnings: [ContentWarning] = []

    /// Checks the payload, and adds warnings.
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

    /// The members that belong inside `aps`. A warning names those beside it, where no app expects them.
    private static let onlyInside: Set<String> = [
        "alert", "badge", "sound", "content-available", "mutable-content", "interruption-level", "thread-id",
    ]

    private func error(_ path: [String], _ code: String, _ message: String) -> RequestError {
        RequestError(.invalid, code: code, message: message, path: self.names.name(path))
    }

    private mutating func warn(_ path: [String], _ message: String) {
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

    private static func hasText(_ alert: JSONValue?) -> Bool {
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
    fileprivate var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
}

extension PayloadLint {
    /// The type of a member of `aps` (reference 3.1).
    private enum Kind {
        case string, number, object, count, `true`, strings
        /// A member that is either 1 or absent.
        case flag
        /// A type that is checked elsewhere.
        case other
    }

    private static let kinds: [String: Kind] = [
        "alert": .other, "sound": .other, "badge": .count, "thread-id": .string, "category": .string,
        "content-available": .flag, "mutable-content": .flag, "target-content-id": .string,
        "interruption-level": .string, "relevance-score": .number, "filter-criteria": .string, "stale-date": .number,
        "content-state": .object, "timestamp": .number, "event": .string, "dismissal-date": .number,
        "attributes-type": .string, "attributes": .object, "input-push-token": .flag, "input-push-channel": .string,
        "content-changed": .true, "url-args": .strings, "ptt-push-type": .string,
    ]

    private mutating func checkTypes(_ aps: [String: JSONValue]) throws(RequestError) {
        for (name, value) in aps.sorted(by: { $0.key < $1.key }) {
            guard let kind = Self.kinds[name] else {
                self.warn(["aps", name], "aps has no member \(name): devices ignore it, put it beside aps")
                continue
            }
            try self.check(value, kind, at: ["aps", name])
        }
    }

    private mutating func check(_ value: JSONValue, _ kind: Kind, at path: [String]) throws(RequestError) {
        switch (kind, value) {
        case (.other, _), (.string, .string), (.number, .integer), (.number, .number), (.object, .object),
            (.flag, .integer(1)), (.true, .bool(true)), (.count, .integer(0...)):
            break
        case (.flag, .integer(0)), (.true, .bool(false)): self.warn(path, "this means the same as leaving it out")
        case (.strings, .array(let values)): try self.checkStrings(values, at: path)
        case (.count, .integer), (.count, .number): throw self.error(path, "invalid_value", "use a whole number from 0")
        case (.flag, .integer), (.flag, .number): throw self.error(path, "invalid_value", "it can only be 1")
        default: throw self.error(path, "wrong_type", "it must be \(Self.description(of: kind))")
        }
    }

    private func checkStrings(_ values: [JSONValue], at path: [String]) throws(RequestError) {
        for (index, value) in values.enumerated() {
            guard case .string = value
            else { throw self.error(path + ["[\(index)]"], "wrong_type", "it must be a string") }
        }
    }

    private static func description(of kind: Kind) -> String {
        switch kind {
        case .string: "a string"
        case .number, .count: "a number"
        case .object: "an object"
        case .flag: "1"
        case .true: "true"
        case .strings: "an array of strings"
        case .other: "something else"
        }
    }

    private mutating func checkAlert(_ aps: [String: JSONValue]) throws(RequestError) {
        let members: [String: JSONValue]
        switch aps["alert"] {
        case nil, .string: return
        case .object(let object): members = object
        default: throw self.error(["aps", "alert"], "wrong_type", "it must be text or an object")
        }
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            let path = ["aps", "alert", name]
            switch (name, value) {
            case ("sound", _) where self.pushType == .liveactivity: try self.checkSound(value, at: path)
            case _ where !AlertBuilder.keys.contains(name): self.warn(path, "an alert has no member \(name)")
            case ("title", .object(let text)), ("body", .object(let text)):
                guard self.pushType == .liveactivity, case .string? = text["loc-key"]
                else { throw self.error(path, "wrong_type", "it must be a string") }
            case (_, .array(let values)) where name.hasSuffix("loc-args"): try self.checkStrings(values, at: path)
            case ("summary-arg-count", .integer), ("action-loc-key", .null): break
            case (_, .string) where !name.hasSuffix("loc-args") && name != "summary-arg-count": break
            case _ where name.hasSuffix("loc-args"):
                throw self.error(path, "wrong_type", "it must be an array of strings")
            default: throw self.error(path, "wrong_type", "it must be a string")
            }
        }
        for prefix in ["", "title-", "subtitle-"]
        where members["\(prefix)loc-args"] != nil && members["\(prefix)loc-key"] == nil {
            self.warn(["aps", "alert", "\(prefix)loc-args"], "without \(prefix)loc-key this has no effect")
        }
    }

    private mutating func checkSound(_ sound: JSONValue?, at path: [String]) throws(RequestError) {
        let members: [String: JSONValue]
        switch sound {
        case nil, .string: return
        case .object(let object): members = object
        default: throw self.error(path, "wrong_type", "it must be a file's name or an object")
        }
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            switch name {
            case "critical": try self.check(value, .flag, at: path + [name])
            case "name": try self.check(value, .string, at: path + [name])
            case "volume":
                try self.check(value, .number, at: path + [name])
                guard let volume = value.double, (0...1).contains(volume)
                else { throw self.error(path + [name], "invalid_value", "use 0 to 1") }
            default: self.warn(path + [name], "a sound has no member \(name)")
            }
        }
        if members["name"] == nil { self.warn(path, "a sound without a name may stay silent") }
    }
}

extension PayloadLint {
    /// The timestamps from 2001 to 2100, in UNIX seconds. A number outside this range is in other units, or a duration.
    private static let timestamps = 1_000_000_000.0...4_102_444_800.0

    /// Checks the members of a Live Activity (reference 3.4).
    private mutating func checkLiveActivity(_ aps: [String: JSONValue]) throws(RequestError) {
        guard let event = aps["event"] else {
            throw self.error(
                ["aps", "event"],
                "missing_field",
                "a Live Activity push has the event start, update or end"
            )
        }
        guard case .string(let event) = event, ["start", "update", "end"].contains(event)
        else { throw self.error(["aps", "event"], "invalid_value", "use start, update or end") }
        guard aps["timestamp"] != nil else {
            throw self.error(
                ["aps", "timestamp"],
                "missing_field",
                "the timestamp of the state in UNIX seconds is required"
            )
        }
        try self.checkTimestamps(aps)
        if aps["content-state"] == nil {
            guard event == "end" else {
                throw self.error(["aps", "content-state"], "missing_field", "the state to show is required")
            }
            self.warn(["aps", "content-state"], "without a final state the activity ends with its last state")
        }
        if event == "start" { try self.checkStart(aps) }
        self.warnAboutEvent(event, aps)
        if aps["sound"] != nil { self.warn(["aps", "sound"], "in a Live Activity the sound belongs into the alert") }
        if self.priority == .immediate, event == "update", aps["alert"] == nil {
            self.warn(["aps"], "priority 10 counts against an hourly budget: use 5 for what can wait")
        }
    }

    private func checkTimestamps(_ aps: [String: JSONValue]) throws(RequestError) {
        for name in ["timestamp", "stale-date", "dismissal-date"] {
            guard let seconds = aps[name]?.double else { continue }
            // A dismissal date in the past, even 0, removes the activity at once.
            let isPast = name == "dismissal-date" && seconds >= 0 && seconds < Self.timestamps.lowerBound
            guard isPast || Self.timestamps.contains(seconds) else {
                let message = "it is a timestamp in UNIX seconds, not in milliseconds and not a duration"
                throw self.error(["aps", name], "invalid_value", message)
            }
        }
    }

    private mutating func checkStart(_ aps: [String: JSONValue]) throws(RequestError) {
        for name in ["attributes-type", "attributes"] where aps[name] == nil {
            throw self.error(["aps", name], "missing_field", "starting a Live Activity needs it")
        }
        guard Self.hasText(aps["alert"]) else {
            throw self.error(["aps", "alert"], "missing_field", "starting a Live Activity needs an alert")
        }
        if aps["input-push-channel"] != nil {
            self.warn(["aps", "input-push-channel"], "devices before iOS 18 do not start this activity")
            if aps["input-push-token"] != nil {
                self.warn(["aps", "input-push-token"], "an activity has a channel or a token, not both")
            }
        }
    }

    private mutating func warnAboutEvent(_ event: String, _ aps: [String: JSONValue]) {
        if event != "start" {
            for name in ["attributes", "attributes-type", "input-push-channel", "input-push-token"]
            where aps[name] != nil {
                self.warn(["aps", name], "only a start needs it")
            }
        }
        if event != "end", aps["dismissal-date"] != nil {
            self.warn(["aps", "dismissal-date"], "only the event end has a dismissal date")
        }
    }
}
