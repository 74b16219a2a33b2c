import PushSupport
import PushTypes

extension PayloadLint {
    /// The type of a member of `aps` (reference 3.1).
    private enum Kind {
        case string, number, object, count, `true`, strings
        /// 1, or absent.
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

    mutating func checkTypes(_ aps: [String: JSONValue]) throws(RequestError) {
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
        case (.count, .integer), (.count, .number):
            throw self.error(path, "invalid_value", "use a whole number from 0")
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

    mutating func checkAlert(_ aps: [String: JSONValue]) throws(RequestError) {
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

    mutating func checkSound(_ sound: JSONValue?, at path: [String]) throws(RequestError) {
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
