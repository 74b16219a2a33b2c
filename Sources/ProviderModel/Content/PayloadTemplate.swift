package import Foundation
package import PushSupport

/// The payload of a notification before it is rendered: the default, its localizations, and the rules for each device.
///
/// It is stored as `{"badge":{"increment":1},"localizations":{"de":{…}},"payload":{…},"variables":true,"version":1}`.
/// If the payload does not depend on the device, only the payload is stored.
package struct PayloadTemplate: Hashable {
    /// The error of a stored text that cannot be decoded.
    package struct Damage: Error, Hashable {
        package init() {}
    }

    /// The maximum number of different variables in one notification. A request with more is rejected.
    package static let maximumNames = 64
    private static let version: Int64 = 1

    /// The whole payload for devices whose locale has no localization.
    package var payload: [String: JSONValue]
    /// The whole payloads of the localizations, by ``LocaleTag/name``.
    package var localizations: [String: [String: JSONValue]] = [:]
    /// A Boolean value that indicates whether `{{…}}` in strings is a variable.
    package var hasVariables = false
    /// The change of the user's badge count, from which `aps.badge` is filled in for each device, or `nil` for none.
    package var badge: BadgeChange?

    /// A Boolean value that indicates whether the payload depends on the device.
    var isTemplate: Bool { self.hasVariables || !self.localizations.isEmpty || self.badge != nil }

    /// The text in which the template is stored. Equal templates have equal texts.
    var text: Data {
        get throws {
            guard self.isTemplate else { return try JSONValue.object(self.payload).text }
            var members: [String: JSONValue] = ["version": .integer(Self.version), "payload": .object(self.payload)]
            if self.hasVariables { members["variables"] = .bool(true) }
            if !self.localizations.isEmpty {
                members["localizations"] = .object(self.localizations.mapValues(JSONValue.object))
            }
            if let badge = self.badge { members["badge"] = .object(["increment": .integer(Int64(badge.increment))]) }
            return try JSONValue.object(members).text
        }
    }

    init(payload: [String: JSONValue]) { self.payload = payload }

    /// Decodes the stored text of a template, or throws ``Damage``.
    package init(stored text: Data) throws(Damage) {
        guard case .object(let members)? = try? JSONValue(parsing: text), members["version"] == .integer(Self.version),
            case .object(let payload)? = members["payload"]
        else { throw Damage() }
        self.payload = payload
        self.hasVariables = members["variables"] == .bool(true)
        switch members["localizations"] {
        case nil: break
        case .object(let localizations):
            for (locale, value) in localizations {
                guard case .object(let payload) = value else { throw Damage() }
                self.localizations[locale] = payload
            }
        default: throw Damage()
        }
        switch members["badge"] {
        case nil: break
        case .object(let badge):
            guard case .integer(let increment)? = badge["increment"], let change = BadgeChange(increment: increment)
            else { throw Damage() }
            self.badge = change
        default: throw Damage()
        }
    }
}

extension PayloadTemplate {
    /// Returns the minimum length of each payload as JSON text, in bytes: with variables at their default or empty, and
    /// a badge of one digit. The payload without a locale is that of all other locales.
    func minimumLengths() throws -> [(locale: String?, length: Int)] {
        var lengths: [(locale: String?, length: Int)] = [(nil, try self.minimumLength(of: self.payload))]
        for (locale, payload) in self.localizations.sorted(by: { $0.key < $1.key }) {
            lengths.append((locale, try self.minimumLength(of: payload)))
        }
        return lengths
    }

    private func minimumLength(of payload: [String: JSONValue]) throws -> Int {
        var payload = self.hasVariables ? payload.mapValues(Self.withDefaults) : payload
        if self.badge != nil, case .object(var aps)? = payload["aps"] {
            aps["badge"] = .integer(1)
            payload["aps"] = .object(aps)
        }
        return try JSONValue.object(payload).text.count
    }

    /// Returns a value in whose texts each variable is replaced by its default, or left out if it has none.
    private static func withDefaults(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text):
            guard TemplateText.hasMarks(text), let template = try? TemplateText(parsing: text) else { return value }
            return .string(template.parts.reduce("") { $0 + $1.shortest })
        case .array(let values): return .array(values.map(Self.withDefaults))
        case .object(let members): return .object(members.mapValues(Self.withDefaults))
        case .integer, .number, .bool, .null: return value
        }
    }
}

extension TemplateText.Part {
    /// The text of this part for a device without a value for the variable.
    fileprivate var shortest: String {
        switch self {
        case .text(let text): text
        case .variable(_, let fallback): fallback ?? ""
        }
    }
}
