package import Foundation
package import PushSupport

/// The payload of a notification before it is rendered: the default payload, its localizations, and the rules that fill
/// them in for each device.
///
/// It is stored as `{"badge":{"increment":1},"localizations":{"de":{…}},"payload":{…},"variables":true,"version":1}`. If the
/// payload does not depend on the device, only the payload is stored.
package struct PayloadTemplate: Hashable {
    /// The stored text cannot be decoded.
    package struct Damage: Error, Hashable {}

    private static let version: Int64 = 1

    /// The whole payload for devices whose locale has no localization.
    package var payload: [String: JSONValue]
    /// The whole payloads of the localizations, by ``LocaleTag/name``.
    package var localizations: [String: [String: JSONValue]] = [:]
    /// `true` if `{{…}}` in strings is a variable.
    var hasVariables = false
    /// The change of the user's count, from which `aps.badge` is filled in for each device.
    package var badge: BadgeChange?

    /// `true` if the payload depends on the device.
    var isTemplate: Bool { self.hasVariables || !self.localizations.isEmpty || self.badge != nil }

    /// The stored text. Equal templates have equal texts.
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

    /// Decodes the stored text of a template.
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
